import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as z from 'zod';
import fc, { caseCount } from '../support/fast-check.js';
import { playTurn } from '../../runner/src/mock/play-turn.js';
import { readTurnInput } from '../../runner/src/turn-files.js';
import { TurnFailure } from '../../runner/src/turn-failure.js';
import { judgeEnding } from '../../services/turn-worker/src/attempt/judge-ending.js';
import { TurnDirectory } from '../../services/turn-worker/src/attempt/turn-directory.js';
import { failure } from '../../shared/protocol/src/failure-codes.js';
import { mockScript } from '../../shared/protocol/src/mock-script.js';
import { type RunnerTurnInput, runnerTurnInput, runnerTurnOutput } from '../../shared/protocol/src/runner.js';
import { directoryEntry, workspaceEntry, workspacePath } from '../../shared/protocol/src/workspace-manifest.js';
import { entriesOf, readSnapshot, SnapshotInvalid } from '../../shared/protocol/src/workspace-snapshot.js';
import { type Campaign, campaign, computedMs } from './support/campaign.js';
import { type JsonSchema, type Known, valuesOf } from './support/json-schema.js';
import { jsonOf, nastyText, spoiled, spoiledBytes } from './support/nasty.js';

/** A campaign against what runs in this process. */
const inHere = <Case>(name: Campaign, cases: fc.Arbitrary<Case>, judge: (one: Case) => Promise<void> | void) =>
  campaign(name, cases, judge, { clock: computedMs });

const maxBytes = 64 * 1024;
let directory: string;
let turn: TurnDirectory;
let output: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'suzumio-fuzz-turn-'));
  for (const name of ['turns', 'd', 'workspace']) await mkdir(join(directory, name));
  const ref = { cell: 'c', project: 'p', agent: 'a', turn: 'turn_00000000000000000000000000', attempt: 1, epoch: 1 };
  turn = await TurnDirectory.create({ path: directory, sockets: join(directory, 'd') }, ref, undefined);
  output = join(turn.path, 'output.json');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** The bytes of documents of a schema, most of them with something wrong. */
function documents(schema: z.ZodType, known: Known = {}): fc.Arbitrary<Buffer> {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  const valid = valuesOf(json, known, (json['$defs'] ?? {}) as Record<string, JsonSchema>);
  return fc.oneof(
    valid.map((value) => Buffer.from(jsonOf(value))),
    spoiled(valid).map((value) => Buffer.from(jsonOf(value))),
    spoiledBytes(valid.map(jsonOf)),
    fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
  );
}

const inputs = documents(runnerTurnInput, {
  workspace: fc.constant('/workspace'),
  token: fc.constant('secret-of-the-turn'),
});

test('a runner takes its input.json, or says what is wrong with it', async () => {
  await inHere('input.json', inputs, async (bytes) => {
    await writeFile(join(turn.path, 'input.json'), bytes);
    const read = await readTurnInput(turn.path).catch((error: unknown) => error);
    if (read instanceof Error) expect(read).toBeInstanceOf(TurnFailure);
    else expect(runnerTurnInput.parse(read)).toEqual(read);
  });
});

test('a real runner ends with one of its exit codes, whatever its input is', async () => {
  const runner = fileURLToPath(new URL('../../runner/dist/bundle/runner.mjs', import.meta.url));
  for (const bytes of fc.sample(inputs, { seed: 1, numRuns: caseCount(8) })) {
    await writeFile(join(turn.path, 'input.json'), bytes);
    const child = spawn(process.execPath, [runner], {
      env: { SUZUMIO_TURN_DIR: turn.path },
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: 30_000,
    });
    const [words, [code]] = await Promise.all([text(child.stderr), once(child, 'close') as Promise<[number | null]>]);
    expect({ code: [0, 1, 65, 75, 78].includes(code ?? -1) ? 'known' : code, words }).toEqual({ code: 'known', words });
    expect(words).not.toMatch(/^\s+at /m);
  }
});

test("a worker judges a turn's output.json, whatever it is", async () => {
  const kinds = fc.constantFrom('file', 'file', 'file', 'file', 'link', 'directory', 'nothing');
  const cases = fc.record({ bytes: documents(runnerTurnOutput), kind: kinds });
  await inHere('output.json', cases, async ({ bytes, kind }) => {
    await rm(output, { recursive: true, force: true });
    if (kind === 'file') await writeFile(output, bytes);
    if (kind === 'link') await symlink('/etc/passwd', output);
    if (kind === 'directory') await mkdir(output);
    const read = await turn.readOutput(maxBytes);
    if (kind !== 'file') expect(read.kind).toBe(kind === 'nothing' ? 'missing' : 'invalid');
    if (read.kind === 'valid') expect(runnerTurnOutput.parse(read.output)).toEqual(read.output);
    if (read.kind === 'invalid') expect(read.why.length).toBeLessThan(500);
  });
});

test('a worker has a verdict on every ending, which the ToolHost takes', async () => {
  const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
  const endings = fc.record({
    end: fc.record(
      {
        exitCode: fc.constantFrom(0, 1, 64, 65, 70, 75, 126, 127, 134, 137, 143, 255),
        vanished: fc.boolean(),
        signal: fc.constantFrom('SIGKILL', 'SIGTERM'),
        oomKilled: fc.boolean(),
        withoutNode: fc.boolean(),
      },
      { requiredKeys: ['exitCode', 'vanished'] },
    ),
    output: fc.oneof(
      fc.constant({ kind: 'missing' as const }),
      fc.constant({ kind: 'too-large' as const, maxBytes }),
      nastyText.map((why) => ({ kind: 'invalid' as const, why })),
      nastyText.map((said) => ({ kind: 'valid' as const, output: { text: said } })),
    ),
    stopped: maybe(
      fc.constantFrom('time-limit' as const, 'disk-full' as const, 'shutdown' as const, 'lingering' as const),
    ),
    captureFailure: maybe(nastyText.map((message) => ({ code: 'worker-lost' as const, message }))),
    tooLarge: maybe(nastyText),
    diskWasShort: fc.boolean(),
    disturbed: maybe(fc.constantFrom('signalled' as const, 'engine-away' as const)),
    stopping: fc.boolean(),
    log: fc.array(nastyText, { maxLength: 20 }).map((lines) => lines.join('\n')),
    timeoutMs: fc.nat(),
    memoryBytes: fc.nat(),
  });
  await inHere('endings', endings, (ending) => {
    const verdict = judgeEnding(ending);
    if (verdict.kind === 'failed') failure.parse(verdict.failure);
    else expect(ending.output.kind).toBe('valid');
  });
});

test('a worker takes a manifest only if nothing in it leads out of the workspace', async () => {
  const path = fc.oneof(
    fc.constantFrom('a', 'a/b', 'a/b/c', 'b', '..', 'a/../..', '/etc/passwd', 'a//b', 'a\0b'),
    nastyText,
  );
  const hash = fc.constantFrom('a'.repeat(64), 'b'.repeat(64));
  const numbers = { target: fc.oneof(path, fc.constantFrom('/', '../..')), sizeBytes: fc.nat(1_000) };
  const bounds = { maxBytes: 2_000, maxEntries: 3 };
  const manifests = fc.oneof(
    documents(z.object({ version: z.literal(1), entries: z.array(workspaceEntry) }), { ...numbers, path }),
    documents(z.object({ version: z.literal(2), entries: z.array(directoryEntry) }), {
      ...numbers,
      name: path,
      sha256: hash,
    }),
  );
  await inHere('workspace manifests', fc.tuple(manifests, manifests), async ([root, other]) => {
    try {
      const read = (sha256: string) => Promise.resolve(sha256 === 'root' ? root : other);
      const entries = [...entriesOf(await readSnapshot('root', read, bounds))];
      expect(entries.length).toBeLessThanOrEqual(bounds.maxEntries);
      expect(new Set(entries.map(({ path }) => path)).size).toBe(entries.length);
      const links = entries.filter(({ entry }) => entry.kind === 'link').map(({ path }) => `${path}/`);
      for (const { path } of entries) {
        workspacePath.parse(path);
        expect(links.filter((link) => path.startsWith(link))).toEqual([]);
      }
    } catch (error) {
      if (!(error instanceof SnapshotInvalid)) throw error;
    }
  });
});

test('a mock turn ends, with a text or a failure that says why', async () => {
  const json = z.toJSONSchema(mockScript, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  const template = fc
    .array(
      fc.constantFrom(
        '{{',
        '}}',
        '{{steps.0.output}}',
        '{{mail.0.body}}',
        '{{mail}}',
        '{{__proto__}}',
        '{{constructor.name}}',
        '{{agent.id}}',
        '{{ turn.number }}',
        '{{steps.__proto__.0}}',
        '{{steps.length}}',
        'x',
      ),
      { maxLength: 5 },
    )
    .map((parts) => parts.join(''));
  const known = {
    agent: fc.constant('a'),
    text: template,
    body: template,
    path: fc.oneof(template, fc.constantFrom('../x', 'a/b.md', '/etc/x', 'a.md')),
    wait: fc.constantFrom('1ms', 2),
    tool: fc.constantFrom('messages.send', 'nobody.knows'),
  };
  const scripts = spoiled(valuesOf(json, known, (json['$defs'] ?? {}) as Record<string, JsonSchema>));
  await inHere('mock turns', fc.tuple(scripts, nastyText), async ([value, body]) => {
    const parsed = mockScript.safeParse(value);
    if (!parsed.success) return;
    const script = parsed.data.map((rule) => ({
      ...rule,
      // What runs commands and waits is of no interest here.
      steps: rule.steps.filter((step) => !('run' in step) && (!('wait' in step) || step.wait < 10)),
    }));
    const mail = {
      id: 'm',
      sender: 'user',
      recipient: 'a',
      priority: 'P1',
      kind: 'direct',
      threadId: 'm',
      body,
      createdAt: '2026-11-22T05:00:00Z',
    } as const;
    const input: RunnerTurnInput = {
      project: 'p',
      agent: { id: 'a', role: 'r', prompt: 'p' },
      turn: { id: 'turn_00000000000000000000000000', prompt: 'p', number: 1, attempt: 1, mail: [mail] },
      workspace: join(directory, 'workspace'),
      controllerUrl: 'stdio:',
      token: 't',
      runner: { mode: 'mock', script },
      tools: [],
    };
    const ended = () => Promise.reject(new TurnFailure('as the script wants'));
    const stage = {
      tools: { call: (_tool: string, given: unknown) => Promise.resolve({ response: { output: given } }) },
      steps: { take: () => Promise.reject(new Error('this ToolHost takes no steps')) },
      control: { crash: ended, hang: ended },
      env: {},
      log: () => undefined,
      live: { add: () => undefined, ended: () => undefined },
    };
    const played = await playTurn(input, stage).catch((error: unknown) => error);
    if (played instanceof Error) expect(played).toBeInstanceOf(TurnFailure);
    else expect(typeof (played as { text: unknown }).text).toBe('string');
  });
});
