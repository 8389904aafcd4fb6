import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from './support/poll.js';
import { count, overlappingAttempts } from './support/outcomes.js';
import { installSdk } from './support/packed-sdk.js';
import { brokenInvariants, openProject } from './support/project.js';
import { type Stack, startStack } from './support/stack.js';

const repository = new URL('..', import.meta.url);

const project = `
name: desk
task: Answer every letter, and file it.
backend:
  kind: process
  runner:
    mode: mock
    script:
      - agent: archivist
        steps:
          - text: Filed.
agents:
  clerk: { role: clerk, count: 2, prompt: Answer., tools: [messages.send, messages.reply, artifacts.publish], backend: external }
  archivist: { role: archivist, prompt: File. }
`;
const clerks = ['clerk-1', 'clerk-2'];

let stack: Stack;
let home: string;
let token: string;
const programs: Program[] = [];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'suzumio-desk-'));
  await installSdk(home);
  await copyFile(new URL('fixtures/external-handlers/desk.mjs', import.meta.url), join(home, 'desk.mjs'));
  stack = await startStack({ backends: ['process'], leaseMs: 10_000 });
  token = await setUp(project, 'desk', clerks);
});
afterEach(async () => {
  await Promise.all(programs.splice(0).map((program) => program.kill()));
});
afterAll(async () => {
  await stack.stop();
  await rm(home, { recursive: true, force: true });
});

/** Creates and starts a project, and makes a token for its handler. */
async function setUp(file: string, name: string, agents: string[]): Promise<string> {
  expect(await stack.api('POST', '/projects', { file, start: true })).toMatchObject({ status: 201 });
  const made = await stack.api('POST', '/tokens', { name: `${name}-1`, scope: 'handler', project: name, agents });
  expect(made.status).toBe(201);
  return (made.body as { secret: string }).secret;
}

/** The program of the two clerks, as a process of its own. */
interface Program {
  diary(): string[];
  notes(line: string): Promise<void>;
  kill(): Promise<void>;
  /** Tells it to stop, and returns its exit code. */
  stop(): Promise<number | null>;
}

function startProgram(diary = join(home, 'diary')): Program {
  const child = spawn(process.execPath, ['desk.mjs'], {
    cwd: home,
    env: { PATH: process.env['PATH'], URL: stack.toolhosts[0]?.worker, TOKEN: token, DIARY: diary },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const read = () => (existsSync(diary) ? readFileSync(diary, 'utf8').split('\n').slice(0, -1) : []);
  const program: Program = {
    diary: read,
    notes: (line) => eventually(`it notes "${line}"`, () => read().includes(line)),
    async kill() {
      await ended(child, 'SIGKILL');
    },
    stop: () => ended(child, 'SIGTERM'),
  };
  programs.push(program);
  return program;
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
  return child.exitCode;
}

/** Sends a letter, and returns its id. */
async function letter(clerk: string, body: string, to = 'desk'): Promise<string> {
  const sent = await stack.api('POST', `/projects/${to}/messages`, { recipient: clerk, body });
  expect(sent.status).toBe(201);
  return (sent.body as { id: string }).id;
}

function read<Result>(body: (database: ReturnType<typeof openProject>) => Result, of = 'desk'): Result {
  const database = openProject(stack.root, of);
  try {
    return body(database);
  } finally {
    database.close();
  }
}

const answersTo = (id: string, of = 'desk') =>
  read((database) => database.all<{ body: string }>(`SELECT body FROM messages WHERE reply_to = '${id}'`), of).map(
    ({ body }) => body,
  );
const turnThatRead = (id: string) =>
  read((database) =>
    database.get<{ status: string; attempt: number; output_text: string }>(
      `SELECT status, attempt, output_text FROM turns JOIN message_reads ON turn_id = turns.id WHERE message_id = '${id}'`,
    ),
  );
const settled = (ids: string[]) =>
  eventually(
    'every letter is answered and filed, and nothing runs',
    () =>
      ids.every((id) => turnThatRead(id)?.status === 'completed') &&
      read((database) => count(database, `turns WHERE status IN ('queued', 'running')`)) === 0 &&
      read((database) => count(database, 'inbox')) === 0,
  );

/** What must be true of a letter, however often its turn was tried. */
async function expectDoneOnce(id: string, clerk: string, text: string, attempts: string[]): Promise<void> {
  expect(answersTo(id)).toEqual([`Answer to ${text}`]);
  const [artifacts, filed] = read((database) => [
    count(database, `artifacts WHERE name = '${id}.txt'`),
    count(database, `messages WHERE sender = '${clerk}' AND recipient = 'archivist' AND body = 'File ${text}'`),
  ]);
  expect({ artifacts, filed }).toEqual({ artifacts: 1, filed: 1 });
  const { body } = await stack.api('GET', `/projects/desk/messages/${id}`);
  const { receipts } = body as { receipts: Receipt[] };
  expect(receipts).toMatchObject([
    { agent: clerk, unread: false, reads: [{ status: 'completed', undelivered: false }] },
  ]);
  // A program that has just ended may have been waiting for the turn: that attempt no program saw.
  const seen = receipts[0]?.reads[0]?.attempts.filter(({ failure }) => failure?.code !== 'handler-disconnected');
  expect(seen?.map(({ status }) => status)).toEqual(attempts);
}

/** What became of a letter. */
interface Receipt {
  reads: { attempts: { status: string; failure: { code: string } | null }[] }[];
}

describe('the package', () => {
  test('holds what it needs and nothing else, and its types are all that a program needs', async () => {
    const installed = join(home, 'node_modules', '@suzumio', 'sdk');
    const files = await readdir(installed, { recursive: true });
    expect(files.filter((file) => !/^dist(\/[\w-]+\.(js|d\.ts))?$/.test(file)).sort()).toEqual([
      'LICENSE',
      'README.md',
      'package.json',
    ]);
    await writeFile(
      join(home, 'typed.ts'),
      `import { type Mail, TeamHandler } from '@suzumio/sdk';
       const bodies = (mail: readonly Mail[]): string[] => mail.map(({ body }) => body);
       const handler = new TeamHandler({ url: 'http://127.0.0.1:1', token: '' }).handle(async ({ mail }, ctx) => {
         const { id }: { id: string } = await ctx.send({ recipient: 'user', body: bodies(mail).join() });
         if (id === '') return;
         await ctx.assign({ role: 'clerk', body: 'Go on.' });
       });
       // @ts-expect-error: there is no such priority
       new TeamHandler({ url: '', token: '' }).handle((_turn, ctx) => void ctx.send({ priority: 'P9', body: '' }));
       await handler.stop();\n`,
    );
    await writeFile(
      join(home, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          noEmit: true,
          strict: true,
          exactOptionalPropertyTypes: true,
          target: 'es2024',
          module: 'nodenext',
          lib: ['es2024', 'dom'],
          types: [],
        },
        files: ['typed.ts'],
      }),
    );
    const args = [new URL('node_modules/typescript/bin/tsc', repository).pathname, '--project', home];
    const child = spawn(process.execPath, args, { cwd: home, stdio: ['ignore', 'pipe', 'inherit'] });
    const closed = once(child, 'close');
    expect(await text(child.stdout)).toBe('');
    await closed;
  });
});

describe('two agents whose turns a program of somebody’s own runs', () => {
  test('keep their mail while no program is there: nobody else runs their turns', async () => {
    const id = await letter('clerk-1', 'the first letter');
    await eventually(
      'its turn is queued',
      () => read((database) => count(database, `turns WHERE status = 'queued'`)) === 1,
    );
    expect(turnThatRead(id)).toBeUndefined();
    expect(read((database) => count(database, `turns WHERE delivery > 0`))).toBe(0);

    startProgram();
    await settled([id]);
    await expectDoneOnce(id, 'clerk-1', 'the first letter', ['completed']);
    expect(
      read((database) => database.all(`SELECT engine, credential FROM turn_attempts WHERE engine = 'external'`)),
    ).toEqual([{ engine: 'external', credential: 'desk-1' }]);
  });

  test('have each unread message handed to its code by itself, and its follow-ups wake the next agent', async () => {
    const program = startProgram();
    const sent = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(async (n) => {
        const clerk = clerks[n % 2] ?? '';
        const body = `letter ${String(n)}`;
        return { clerk, body, id: await letter(clerk, body) };
      }),
    );
    await settled(sent.map(({ id }) => id));
    for (const { id, clerk, body } of sent) {
      await expectDoneOnce(id, clerk, body, ['completed']);
      expect(program.diary()).toContain(`${clerk} 1 opens ${body}`);
      expect(turnThatRead(id)?.output_text).toBe(`Answered ${body}`);
    }
    const filings = read((database) =>
      database.get<{ n: number }>(`SELECT count(*) AS n FROM message_reads WHERE recipient = 'archivist'`),
    );
    expect(filings?.n).toBe(7);
  });

  test('survive that it is killed in mid-turn, and the ToolHost with it: all is done, and once', async () => {
    const program = startProgram();
    const sent = await Promise.all(
      clerks.map(async (clerk) => {
        const [hanging, waiting] = [`hang at ${clerk}`, `wait behind ${clerk}`];
        const first = { clerk, body: hanging, id: await letter(clerk, hanging), attempts: ['failed', 'completed'] };
        await program.notes(`${clerk} hangs`);
        const second = { clerk, body: waiting, id: await letter(clerk, waiting), attempts: ['completed'] };
        return [first, second];
      }),
    );
    // Both turns have answered and published already, and have not told the archivist.
    await program.kill();
    const [toolhost] = stack.services.toolhost;
    await toolhost?.kill();
    await toolhost?.start();
    const second = startProgram();

    const letters = sent.flat();
    await settled(letters.map(({ id }) => id));
    for (const { id, clerk, body, attempts } of letters) await expectDoneOnce(id, clerk, body, attempts);
    for (const clerk of clerks) expect(second.diary()).toContain(`${clerk} 2 opens hang at ${clerk}`);
    read((database) => {
      expect(brokenInvariants(database)).toEqual([]);
      expect(overlappingAttempts(database)).toEqual([]);
      expect(
        database.all(`SELECT DISTINCT failure_json ->> 'code' AS code FROM turn_attempts
           WHERE status = 'failed' AND failure_json ->> 'code' <> 'handler-disconnected'`),
      ).toEqual([{ code: 'lease-expired' }]);
    });
  });

  test('have what runs finished by a program that is told to stop, and the rest by the next one', async () => {
    const diary = join(home, 'diary-of-stop');
    const program = startProgram(diary);
    const first = await letter('clerk-1', 'a slow letter');
    await program.notes('clerk-1 is slow');
    const stopped = program.stop();
    await program.notes('is told to stop');
    const second = await letter('clerk-2', 'a letter too late');
    await writeFile(`${diary}.go-on`, '');
    expect(await stopped).toBe(0);
    expect(program.diary().at(-1)).toBe('has stopped');
    await expectDoneOnce(first, 'clerk-1', 'a slow letter', ['completed']);
    expect(program.diary().filter((line) => line.includes('too late'))).toEqual([]);

    const next = startProgram();
    await settled([second]);
    expect(answersTo(second)).toEqual(['Answer to a letter too late']);
    expect(next.diary().filter((line) => line.includes('too late'))).toHaveLength(1);
  });
});

describe('the examples', () => {
  const blocks = async (file: string, language: string) =>
    [
      ...(await readFile(new URL(file, repository), 'utf8')).matchAll(
        new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'),
      ),
    ].map((match) => match[1] ?? '');
  let secret: string;
  beforeAll(async () => {
    const [file = ''] = await blocks('docs/handlers.md', 'yaml');
    secret = await setUp(file.replace('name: desk', 'name: docs'), 'docs', ['clerk']);
  });

  test.each([
    ['docs/handlers.md', 0, '', 'Dear user, we have your letter.'],
    ['sdk/README.md', 0, '', 'clerk has read: Hello.'],
    [
      'sdk/README.md',
      1,
      `const url = process.env.SUZUMIO_TOOLHOST_URL, token = process.env.SUZUMIO_HANDLER_TOKEN;
       const ask = async (body) => body.toUpperCase();\n`,
      'HELLO.',
    ],
  ])('of %s (%i) does what it says', async (file, index, prelude, answer) => {
    const code = (await blocks(file, 'js'))[index] ?? '';
    await writeFile(join(home, 'example.mjs'), prelude + code);
    const child = spawn(process.execPath, ['example.mjs'], {
      cwd: home,
      env: { SUZUMIO_TOOLHOST_URL: stack.toolhosts[0]?.worker, SUZUMIO_HANDLER_TOKEN: secret },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    try {
      const id = await letter('clerk', 'Hello.', 'docs');
      await eventually('it is answered', () => answersTo(id, 'docs').length > 0);
      expect(answersTo(id, 'docs')).toEqual([answer]);
    } finally {
      await ended(child, 'SIGTERM');
    }
  });
});
