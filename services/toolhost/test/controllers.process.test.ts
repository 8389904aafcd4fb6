import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { localToolpacks } from '@suzumio/core/config/local-toolpacks';
import { applyConfig } from '@suzumio/store/projects/apply-config';
import { newestVersion } from '@suzumio/store/sqlite/configs';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import { startProject } from '@suzumio/store/projects/project-transitions';
import { closeTurn } from '@suzumio/store/turns/end-turn';
import { turnRow } from '@suzumio/store/rows';
import { eventually } from '../../../test/support/poll.js';
import { type Answer, type Begun, type ToolhostBench, toolhostBench } from './toolhost-client.js';

const project = 'lab';
const manifest = { id: 'own', tools: [{ name: 'own.do' }, { name: 'own.secret' }] };
const controller = `
import { appendFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
export const createControllerToolpack = ({ store, agent, project, activationId, toolpackId, recordSignal }) => ({
  async support(tool, input) {
    switch (input.do) {
      case 'facts': return { output: { tool, agent: agent.id, project, activationId, toolpackId, db: String(store.db) }, title: 'Facts' };
      case 'count': { const file = join(store.paths.root, 'log'); appendFileSync(file, 'x'); await 0; return { output: readdirSync(store.paths.root).join() }; }
      case 'mail': return { output: store.sendMessage({ recipient: 'boss', body: input.body ?? 'Hello.' }) };
      case 'signal': return { output: recordSignal(input.signal) };
      case 'fill': for (let i = 0; i < 1001; i += 1) writeFileSync(join(store.paths.root, 'f' + i), ''); return { output: 'full' };
      case 'overfill': for (let i = 0; i < 2001; i += 1) writeFileSync(join(store.paths.root, 'f' + i), ''); return { output: 'full' };
      case 'tidy': for (const name of readdirSync(store.paths.root)) rmSync(join(store.paths.root, name)); return { output: 'tidy' };
      case 'eat': { const all = []; for (;;) all.push(new Array(1e6).fill(all.length)); }
      case 'hold': { const all = []; for (;;) { all.push(Buffer.alloc(16e6, 1)); await new Promise((done) => setTimeout(done, 20)); } }
      case 'ask': for (;;) store.listAgents();
      case 'hang': for (;;);
      case 'say': console.log('y'.repeat(1e6)); return { output: 'said' };
      case 'raw': (await import('node:fs')).writeSync(3, 'z'.repeat(3e6)); return { output: '' };
      default: throw new Error('no such thing: ' + input.do);
    }
  },
});
`;
const yaml = (path: string) => `
name: lab
task: Do it.
backend: { runner: { mode: mock } }
agents:
  dev: { tools: [own.do] }
  boss: { tools: ["*"] }
tools: { toolpacks: [{ id: own, path: ${path} }] }
`;

let bench: ToolhostBench;
let pack: string;
let dev: Begun;
const withPolicy = (...directories: string[]) => ({
  controllerMs: 2_000,
  policy: { ...defaultPolicy, toolpacks: { ...defaultPolicy.toolpacks, directories } },
});
beforeEach(async () => {
  pack = await realpath(await mkdtemp(join(tmpdir(), 'suzumio-pack-')));
  await writeFile(join(pack, 'suzumio.toolpack.json'), JSON.stringify(manifest));
  await writeFile(join(pack, 'runner.mjs'), 'export default () => ({});\n');
  await writeFile(join(pack, 'controller.mjs'), controller);
  bench = await toolhostBench(withPolicy(pack));
  const { config } = loadProjectText(yaml(pack), 'file');
  await bench.testing.cell.createProject({ config, source: yaml(pack), actor: 'test', mayLoad: () => true });
  await rm(pack, { recursive: true });
  await bench.testing.cell.catalog.projects.noteRunning(project);
  await bench.testing.write(project, (tx) => startProject(tx, 'test'));
  dev = await bench.begin(project, 'dev');
  expect((await step('begin', { step: '1.0', tool: 'own.do', input: {} })).body).toEqual({ begun: true });
});
afterEach(async () => {
  await bench.close();
  await rm(pack, { recursive: true, force: true });
});

const whose = () => ({ project, agent: 'dev', turn: dev.turn });
const step = (route: 'begin' | 'end', body: object): Promise<Answer> =>
  bench.post(`${bench.toolhost.runnerUrl}/tool/${route}`, dev.answer.toolToken, { ...whose(), ...body });
const support = (number: number, input: object, more: object = {}): Promise<Answer> =>
  bench.post(`${bench.toolhost.runnerUrl}/support`, dev.answer.toolToken, {
    ...whose(),
    step: '1.0',
    number,
    toolpack: 'own',
    asks: { tool: 'own.do', input },
    ...more,
  });
const rows = () =>
  bench.testing.rows<{ step: string; status: string; error_code: string | null }>(
    project,
    `SELECT step, status, error_code FROM tool_calls WHERE step LIKE '%/%' ORDER BY seq`,
  );
const bodies = async () =>
  (await bench.testing.rows<{ body: string }>(project, `SELECT body FROM messages WHERE sender = 'dev'`)).map(
    ({ body }) => body,
  );

describe('a claim', () => {
  test('names the toolpacks of the agent’s own tools, with their definitions', () => {
    expect(dev.answer.toolpacks).toMatchObject([{ id: 'own', runner: 'runner.mjs', tools: ['own.do'] }]);
    expect(dev.answer.input.tools).toEqual([{ name: 'own.do', description: '', inputSchema: { type: 'object' } }]);
  });

  test('fails the turn once the policy has no such directory any more', async () => {
    await bench.restart(withPolicy());
    const turn = await bench.queueTurn(project, 'boss');
    expect(await bench.claim(project, turn)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('toolpacks.directories') },
    });
    expect(await support(1, { do: 'facts' })).toMatchObject({ status: 403, body: { code: 'policy-denied' } });
    expect(await rows()).toEqual([]);
  });
});

describe('a toolpack that the project’s file has no more, or otherwise', () => {
  const change = (toolpacks: ProjectConfig['tools']['toolpacks']) =>
    bench.testing.write(project, (tx) =>
      applyConfig(tx, {
        base: newestVersion(tx),
        config: { ...tx.config, tools: { toolpacks } },
        source: 'x',
        actor: 'test',
        snapshots: new Map(),
      }),
    );
  const packs = () => bench.testing.store(project, ({ config }) => config.tools.toolpacks);
  const refused = { status: 403, body: { code: 'tool-not-allowed', detail: expect.stringContaining('any more') } };

  test('is refused at once in turns that run, whatever their agents may use', async () => {
    const boss = await bench.begin(project, 'boss');
    await change(['core']);
    expect(await support(1, { do: 'mail' })).toMatchObject(refused);
    expect(await step('begin', { step: '2.0', tool: 'own.do', input: {} })).toMatchObject(refused);
    const ofBoss = { project, agent: 'boss', turn: boss.turn, step: '1.0', tool: 'own.do', input: {} };
    const url = `${bench.toolhost.runnerUrl}/tool/begin`;
    expect(await bench.post(url, boss.answer.toolToken, ofBoss)).toMatchObject(refused);
    expect(await bodies()).toEqual([]);
  });

  test('has the files and the tools that a turn began with, until that ends', async () => {
    const was = await packs();
    const [own] = localToolpacks({ tools: { toolpacks: was } });
    if (!own) throw new Error('there is none');
    const { id, ...taken } = own;
    const more = [...taken.tools, { name: 'own.more', description: '', inputSchema: {} }];
    await change(['core', { id, path: pack, taken: { ...taken, sha256: 'f'.repeat(64), tools: more } }]);
    expect(await support(1, { do: 'facts' })).toMatchObject({ status: 200 });
    expect(await step('begin', { step: '2.0', tool: 'own.more', input: {} })).toMatchObject({
      status: 422,
      body: { code: 'tool-unknown' },
    });
    await dev.report('fail', { failure: { code: 'container-vanished', message: 'Gone.' } });
    const again = await bench.claim(project, dev.turn);
    expect(again.body).toMatchObject({ toolpacks: [{ id: 'own', sha256: taken.sha256 }] });
    const boss = await bench.begin(project, 'boss');
    expect(boss.answer.toolpacks).toMatchObject([
      { sha256: 'f'.repeat(64), tools: ['own.do', 'own.secret', 'own.more'] },
    ]);
  });
});

describe('a controller module', () => {
  test('knows whose call it is, and answers as often as it is asked what it answered once', async () => {
    const answer = { status: 200, body: { output: expect.any(String), title: 'Facts' } };
    const first = await support(1, { do: 'facts' });
    expect(first).toMatchObject(answer);
    expect(JSON.parse(String(first.body['output']))).toEqual({
      tool: 'own.do',
      agent: 'dev',
      project,
      activationId: dev.turn,
      toolpackId: 'own',
      db: 'undefined',
    });
    expect(await support(2, { do: 'mail' })).toMatchObject({ status: 200 });
    expect(await support(2, { do: 'mail' })).toMatchObject({ status: 200 });
    expect(await bodies()).toEqual(['Hello.']);
    expect(await support(2, { do: 'other' })).toMatchObject({ status: 409, body: { code: 'journal-mismatch' } });
    expect(await rows()).toMatchObject([{ step: '1.0/support.1', status: 'succeeded' }, { step: '1.0/support.2' }]);
    expect(await readdir(tmpdir())).not.toContainEqual(expect.stringMatching(/^suzumio-toolpack-/));
  });

  test('keeps files in a directory of its own, and one call of it follows another', async () => {
    const all = await Promise.all([1, 2, 3].map((number) => support(number, { do: 'count' })));
    expect(all.map(({ body }) => body['output'])).toEqual(['log', 'log', 'log']);
    expect(await readFile(join(bench.testing.cell.directory.projectDir(project), 'toolpacks/own/log'), 'utf8')).toBe(
      'xxx',
    );
  });

  test('that keeps too much fails its calls until it has removed some of it, and is not called with twice as much', async () => {
    const refused = (detail: RegExp) => ({
      status: 422,
      body: { code: 'toolpack-failed', detail: expect.stringMatching(detail) },
    });
    const full = refused(/has done its work, .*more than 1000 files or 64 MiB .*Its controller has to remove some\.$/);
    expect(await support(1, { do: 'fill' })).toMatchObject(full);
    expect(await support(2, { do: 'facts' })).toMatchObject(full);
    expect(await support(3, { do: 'tidy' })).toMatchObject({ status: 200 });
    expect(await support(4, { do: 'facts' })).toMatchObject({ status: 200 });
    expect(await support(5, { do: 'overfill' })).toMatchObject(full);
    const closed = refused(/is not called: .*more than 2000 files or 128 MiB .*A person has to remove some\.$/);
    expect(await support(6, { do: 'tidy' })).toMatchObject(closed);
  });

  test.each<[object, string, RegExp]>([
    [{ do: 'nothing' }, 'toolpack-failed', /^own\.do failed at the controller: no such thing: nothing$/],
    [{ do: 'hang' }, 'toolpack-timeout', /has not answered within 2 s, and was ended/],
    [{ do: 'ask' }, 'toolpack-failed', /asks its project more than 1000 times/],
    [{ do: 'eat' }, 'toolpack-failed', /ended \(SIGABRT\): 128 MiB of memory may be used up$/],
    [{ do: 'hold' }, 'toolpack-failed', /its process took more than 256 MiB of memory$/],
    [{ do: 'raw' }, 'toolpack-failed', /said what cannot be read, or too much of it/],
    [{ do: 'mail', body: '' }, 'toolpack-failed', /body/],
    [{ do: 'signal', signal: {} }, 'toolpack-failed', /kind/],
    [{ do: 'signal', signal: { kind: 'x', targetAgent: 'dev' } }, 'toolpack-failed', /yourself|itself|self/],
  ])('that does %j fails its call by code and sentence, and the next one is made', async (input, code, detail) => {
    expect(await support(1, input)).toMatchObject({
      status: 422,
      body: { code, detail: expect.stringMatching(detail) },
    });
    expect(await rows()).toEqual([{ step: '1.0/support.1', status: 'failed', error_code: code }]);
    expect(await support(2, { do: 'say' })).toMatchObject({ status: 200, body: { output: 'said' } });
    expect(await bodies()).toEqual([]);
  });

  test('whose process is gone with its ToolHost is not called again', async () => {
    const lost = support(1, { do: 'hang' }).catch(() => undefined);
    for (let looks = 0; looks < 100 && (await rows()).length === 0; looks += 1)
      await new Promise((done) => setTimeout(done, 20));
    await bench.restart(withPolicy(pack));
    expect(await lost).toMatchObject({ status: 503 });
    expect(await support(1, { do: 'hang' })).toMatchObject({ status: 422, body: { code: 'outcome-unknown' } });
    expect(await rows()).toMatchObject([{ status: 'failed', error_code: 'outcome-unknown' }]);
  });
});

/** The limits of the processes that carry out calls, and how soon they end where memory is used up. */
async function limitsOfControllers(): Promise<string[]> {
  const limits: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (
      command.startsWith(process.execPath) &&
      command.includes('controller-child') &&
      command.includes(bench.testing.cell.directory.root)
    )
      limits.push(
        await Promise.all(['limits', 'oom_score_adj'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8'))).then(
          (files) => files.join(''),
          () => '',
        ),
      );
  }
  return limits;
}

test('no process of the same user opens the debugger of one that has controllers called', async () => {
  const module = new URL('../dist/toolpacks/controllers.js', import.meta.url).href;
  const script = `
    const { Controllers } = await import(${JSON.stringify(module)});
    new Controllers(new URL('file:///none'));
    process.kill(process.pid, 'SIGUSR1');
    await new Promise((done) => setTimeout(done, 500));
    console.log(String((await import('node:inspector')).url()));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect(stdout).toBe('undefined\n');
});

const hasProc = process.platform === 'linux';

(hasProc ? test : test.skip)('a controller that outlives its ToolHost has little processor time left', async () => {
  const lost = support(1, { do: 'hang' });
  let limits: string[] = [];
  await eventually('it runs', async () => (limits = await limitsOfControllers()).length > 0);
  // Two seconds are its time, and five to spare.
  expect(limits[0]).toMatch(/^Max cpu time +7 +7 +seconds/m);
  expect(limits[0]).toMatch(/^1000$/m);
  await lost;
});

describe('a signal', () => {
  const signal = (number: number, told: object) => support(number, {}, { asks: { signal: told } });

  test('with a target is mail, and any other one an event', async () => {
    expect(await signal(1, { kind: 'ready', targetAgent: 'boss', payload: { message: 'Come.' } })).toMatchObject({
      status: 200,
    });
    expect(await signal(2, { kind: 'list', targetAgent: 'boss', payload: { a: 1 } })).toMatchObject({ status: 200 });
    expect(await signal(3, { kind: 'cached', usefulEffect: true })).toMatchObject({ body: { output: 'Recorded.' } });
    expect(await signal(4, { kind: 'lost', targetAgent: 'nobody' })).toMatchObject({
      status: 422,
      body: { code: 'recipient-unknown' },
    });
    expect(await bodies()).toEqual(['ready\n\nCome.', 'list\n\n{\n  "a": 1\n}']);
    const events = await bench.testing.rows<{ data: string }>(
      project,
      `SELECT data_json AS data FROM events WHERE type = 'signal.recorded'`,
    );
    expect(events.map(({ data }) => (JSON.parse(data) as { kind: string }).kind)).toEqual(['ready', 'list', 'cached']);
  });
});

test('mail of a toolpack is held to what mail may be', async () => {
  const texts = ['a\u0000b', 'm'.repeat(300_000), '\u{1f600}'.repeat(100_000)];
  for (const [at, message] of texts.entries()) {
    const signal = { kind: 'told', targetAgent: 'boss', payload: { message } };
    expect(await support(2 * at + 1, {}, { asks: { signal } })).toMatchObject({ status: 400 });
    expect(await support(2 * at + 2, { do: 'mail', body: message })).toMatchObject({ status: 422 });
  }
  expect(await bodies()).toEqual([]);
});

test('an attempt whose questions to its controller are refused again and again is ended', async () => {
  const answers: Answer[] = [];
  for (let round = 0; round < 7; round += 1) {
    answers.push(...(await Promise.all(Array.from({ length: 24 }, () => support(1, {}, { step: '9.0' })))));
  }
  const [turn] = await bench.testing.rows<{ failure: string }>(project, 'SELECT failure_json AS failure FROM turns');
  expect(turn?.failure).toContain('refusal-limit');
});

test('nothing is asked without a step that is open, of another toolpack or for another tool', async () => {
  expect(await support(1, {}, { step: '2.0' })).toMatchObject({ body: { code: 'step-not-begun' } });
  expect(await support(1, {}, { toolpack: 'other' })).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  for (const tool of ['own.secret', 'own.none', 'messages.send']) {
    expect(await support(1, {}, { asks: { tool, input: {} } })).toMatchObject({
      status: 403,
      body: { code: 'tool-not-allowed' },
    });
  }
  expect(await support(101, {})).toMatchObject({ status: 400 });
  expect(await support(1, {}, { agent: 'boss' })).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  await step('end', { step: '1.0', result: { output: 'done', title: 'Done' } });
  expect(await support(1, { do: 'mail' })).toMatchObject({ status: 409, body: { code: 'step-ended' } });
  await bench.testing.write(project, (tx) => closeTurn(tx, turnRow(tx, dev.turn), { status: 'cancelled' }));
  expect(await support(1, { do: 'mail' })).toMatchObject({ status: 401 });
  expect(await rows()).toEqual([]);
  expect(await bodies()).toEqual([]);
});

test('a call whose sender leaves is one of those under way until it ends', async () => {
  const call = { step: '1.0', toolpack: 'own', asks: { tool: 'own.do', input: { do: 'hang' } } };
  const leaving = new AbortController();
  const left = Array.from({ length: 16 }, (_, number) =>
    fetch(`${bench.toolhost.runnerUrl}/support`, {
      method: 'POST',
      headers: { authorization: `Bearer ${dev.answer.toolToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...whose(), ...call, number: number + 1 }),
      signal: leaving.signal,
    }),
  );
  const gone = Promise.allSettled(left);
  await eventually('all are under way', async () => (await rows()).length === 16);
  leaving.abort();
  await gone;
  expect(await support(17, { do: 'facts' })).toMatchObject({ status: 503, body: { code: 'attempt-busy' } });
});

test('an agent calls a tool of a toolpack by a step in the sandbox alone, and another one’s not at all', async () => {
  expect(await dev.tool('own.do', {}, { step: '4.0' })).toMatchObject({
    body: { code: 'tool-unknown', detail: expect.stringContaining('begin it with POST /tool/begin') },
  });
  expect(await step('begin', { step: '2.0', tool: 'own.secret', input: {} })).toMatchObject({
    status: 403,
    body: { code: 'tool-not-allowed' },
  });
  expect(await step('begin', { step: '3.0', tool: 'own.none', input: {} })).toMatchObject({
    body: { code: 'tool-unknown' },
  });
});

test('where no file descriptor is left, a call is refused, and the service goes on', async () => {
  const fixture = fileURLToPath(new URL('fixtures/no-descriptors.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)('/bin/sh', [
    '-c',
    'ulimit -n 64; exec "$0" "$1"',
    process.execPath,
    fixture,
  ]);
  expect(stdout).toMatch(/^toolpack-failed: .*its process could not start: .*EMFILE/);
});
