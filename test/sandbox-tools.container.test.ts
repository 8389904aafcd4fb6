import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Sql } from '@suzumio/store/sqlite/sql';
import { type Behaviour, type ModelRequest, type ModelServer, startModelServer } from './support/model-server.js';
import { eventually } from './support/poll.js';
import { startStack, type Stack } from './support/stack.js';

/** A duration that no other process sleeps for. */
const background = 'sleep 98765';

let server: ModelServer;
let stack: Stack;
let say: (step: number, request: ModelRequest) => Behaviour | Promise<Behaviour>;

beforeEach(async () => {
  server = await startModelServer((request) => say(stepOf(request), request));
});
afterEach(async () => {
  await stack.stop();
  await server.close();
});

/** How often the model has been asked before in its turn. */
function stepOf({ body }: ModelRequest): number {
  const prompt = body.messages.findLastIndex(({ role }) => role === 'user');
  return body.messages.slice(prompt).filter(({ role }) => role === 'assistant').length;
}

/** What the newest calls came to, as the model is told. */
function resultsIn({ body }: ModelRequest): string[] {
  const asked = body.messages.findLastIndex(({ role }) => role === 'assistant');
  return body.messages.slice(asked + 1).map(({ content }) => String(content));
}

const call = (name: string, input: object) => ({ name, arguments: input });
const shell = (command: string, more: object = {}) => call('shell_exec', { command, ...more });

async function start(backend: 'docker' | 'process', image = 'suzumio-runner:dev'): Promise<void> {
  stack = await startStack({
    backends: [backend],
    environment: { MODEL_KEY: 'sk-test-0123456789' },
    policy: { providers: [{ baseURL: server.baseURL, apiKeyEnv: 'MODEL_KEY' }] },
  });
  const file = `
name: lab
task: Mend it.
tools: { toolpacks: [files, shell] }
turn: { maxAttempts: 3 }
backend:
  kind: ${backend}
  image: ${image}
  docker: { keep: never }
  runner:
    mode: ai
    model: main
    models:
      providers: { local: { type: openai-compatible, baseURL: "${server.baseURL}", apiKeyEnv: MODEL_KEY } }
      presets: { main: { provider: local, model: scripted } }
agents:
  dev: { role: developer, prompt: Mend., tools: ["*"] }
`;
  const created = await stack.api('POST', '/projects', {
    file,
    start: true,
    message: { recipient: 'dev', body: 'Go.' },
  });
  expect(created).toMatchObject({ status: 201 });
}

function rows<Row>(sql: string): Row[] {
  const database = Sql.open(join(stack.root, 'projects/lab/project.db'), { readonly: true });
  try {
    return database.all<Row>(sql);
  } finally {
    database.close();
  }
}

const turnIs = (status: string, number = 1) =>
  eventually(
    `turn ${number} is ${status}`,
    () => rows<{ status: string }>(`SELECT status FROM turns WHERE number = ${number}`)[0]?.status === status,
    { show },
  );

/** The project's state, and what the services wrote. */
function show(): string {
  const told = ['turns', 'turn_attempts', 'tool_calls'].map((table) => JSON.stringify(rows(`SELECT * FROM ${table}`)));
  return `${stack.logs().slice(-1_500)}\n${told.join('\n').slice(-2_500)}`;
}

/** Processes of this machine, containers' among them, that are the background command. */
function inBackground(): string[] {
  const commandOf = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    } catch {
      return '';
    }
  };
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandOf(name) === background);
}

describe.each(['docker', 'process'] as const)('a model with files and shell, in the %s backend', (backend) => {
  test('writes, runs, reads and goes on in its next turn; nothing runs on, and nothing of the door is in its environment', async () => {
    const told: string[] = [];
    say = (step, request) => {
      if (step > 0) told.push(...resultsIn(request));
      const first = [
        [call('file_write', { path: 'src/plan.md', content: 'one\ntwo\n', createDirs: true }), shell('env')],
        [shell(background, { background: true }), shell('touch ~/kept && mkdir -p ~/.cache/x && pwd')],
        [call('file_read', { path: 'src/plan.md' }), call('file_read', { path: '../../etc/passwd' })],
      ][step];
      if (lastMail(request).includes('Again.'))
        return step === 0 ? { calls: [shell('ls ~; cat src/plan.md')] } : { text: 'Ok.' };
      return first ? { calls: first } : { text: 'Done.' };
    };
    await start(backend);
    await turnIs('completed');
    const [written, environment, , where, read, outside] = told;
    expect(written).toContain('src/plan.md');
    expect(environment).toMatch(/exit code 0/);
    expect(environment?.match(/^SUZUMIO_(?!TURN_MARK|PROCESS|ARTIFACTS_DIR)\w*/gm)).toBeNull();
    expect(environment).not.toMatch(/door\.sock|tool\.[\w-]+\.lab/);
    if (backend === 'docker') expect(environment).toMatch(/^HOME=\/home\/agent$/m);
    expect(where).toMatch(/exit code 0/);
    expect(read).toBe('1\tone\n2\ttwo');
    expect(outside).toMatch(/^Error path-outside:/);
    expect(inBackground()).toEqual([]);
    expect(rows('SELECT tool, status FROM tool_calls ORDER BY seq')).toEqual([
      { tool: 'file.write', status: 'succeeded' },
      { tool: 'shell.exec', status: 'succeeded' },
      { tool: 'shell.exec', status: 'succeeded' },
      { tool: 'shell.exec', status: 'succeeded' },
      { tool: 'file.read', status: 'succeeded' },
      { tool: 'file.read', status: 'failed' },
    ]);

    await stack.api('POST', '/projects/lab/messages', { recipient: 'dev', body: 'Again.' });
    await turnIs('completed', 2);
    expect(told.at(-1)).toMatch(/kept\none\ntwo$/);
  });
});

/** Files that a workspace cannot hold, each kind with its sign in what the model is told. */
const beyond = [
  {
    name: 'bytes',
    make: 'mkdir big; for n in 1 2 3 4 5 6 7 8; do truncate -s 250M big/$n; done; echo kept > kept.txt',
    told: /more than 1073741824 bytes.*It has 2097160192 bytes.*"big" \(2097152000 bytes in 8 entries\)/s,
    mend: 'rm -r big',
  },
  {
    name: 'entries',
    make: 'mkdir many; cd many; seq 60000 | xargs touch',
    told: /more than 20000 files and directories.*"many" \(245760000 bytes in 60000 entries\)/s,
    mend: 'rm -r many',
  },
];

test.each(['docker', 'process'] as const)(
  'a model whose commands write more than its workspace holds is told, mends it, and completes its turn (%s)',
  async (backend) => {
    const told: string[] = [];
    const says = beyond.flatMap(({ make, mend }) => [
      // What would leave the sandbox is refused, and can be done once there is room.
      { calls: [shell(make, { timeoutMs: 60_000 }), call('messages_send', { recipient: 'user', body: 'Made.' })] },
      { calls: [shell(mend, { timeoutMs: 60_000 })] },
      { calls: [call('messages_send', { recipient: 'user', body: 'Mended.' })] },
    ]);
    say = (_step, request) => {
      told.push(resultsIn(request).join('\n'));
      return says[told.length - 1] ?? { text: 'Done.' };
    };
    await start(backend);
    await turnIs('completed');
    for (const [index, { told: expected }] of beyond.entries()) {
      expect(told[index * 3 + 1]).toMatch(/Error workspace-too-large: /);
      expect(told[index * 3 + 1]?.split('[The workspace has').at(-1)).toMatch(expected);
    }
    expect(rows(`SELECT body FROM messages WHERE sender = 'dev'`)).toEqual([{ body: 'Mended.' }, { body: 'Mended.' }]);
    expect(rows('SELECT attempt, files_json AS files FROM turns JOIN workspace_changes ON turn_id = id')).toEqual([
      { attempt: 1, files: expect.stringContaining('"added":1') },
    ]);
  },
);

function lastMail({ body }: ModelRequest): string {
  return String(body.messages.findLast(({ role }) => role === 'user')?.content);
}

test('a turn whose container is killed goes on from its journal, with its files as they were', async () => {
  const asked: number[] = [];
  let killed = false;
  say = (step) => {
    asked.push(step);
    if (step === 2 && !killed) {
      killed = true;
      const filter = `label=suzumio.cell=${stack.cell}`;
      const running = execFileSync('docker', ['ps', '--quiet', '--filter', filter, '--filter', 'label=suzumio.turn']);
      execFileSync('docker', ['kill', ...running.toString().trim().split('\n')]);
    }
    const calls = [
      [call('file_write', { path: 'a.txt', content: 'a' }), shell('date +%N')],
      [shell('echo b >> a.txt; date +%N > when.txt; cat when.txt')],
      [shell('cat a.txt'), call('messages_send', { recipient: 'user', body: 'Done.' })],
    ][step];
    return calls ? { calls } : { text: 'Done.' };
  };
  await start('docker');
  await turnIs('completed');
  // No question was asked twice, and no mail was sent twice.
  expect(asked).toEqual([0, 1, 2, 3]);
  expect(rows(`SELECT 1 AS one FROM messages WHERE sender = 'dev'`)).toHaveLength(1);
  expect(rows('SELECT attempt, step, status FROM tool_calls ORDER BY step')).toEqual(
    // The first three were captured before the question during which the container was killed.
    Object.entries({ '0.0': 1, '0.1': 1, '1.0': 1, '2.0': 2, '2.1': 2 }).map(([step, attempt]) => ({
      attempt,
      step,
      status: 'succeeded',
    })),
  );
  const result = rows<{ result: string }>(`SELECT result_json AS result FROM turn_steps WHERE key = '2.0'`)[0]?.result;
  expect(result).toContain('ab');
});

test('a turn is refused in an image whose runner has not its tools, with what to do', async () => {
  say = () => ({ text: 'Never asked.' });
  await start('docker', 'suzumio-test-base:dev');
  await turnIs('failed');
  const { failure } = rows<{ failure: string }>('SELECT failure_json AS failure FROM turns')[0] ?? { failure: '' };
  expect(JSON.parse(failure)).toMatchObject({
    code: 'image-without-tools',
    message: expect.stringMatching(
      /suzumio-test-base:dev has no tools of the toolpacks files and shell.*npm run images/,
    ),
  });
  expect(server.requests).toEqual([]);
});
