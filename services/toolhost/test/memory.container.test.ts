import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { pushPath } from '@suzumio/protocol/shared-repository';
import { maxChatBytes, stepHeader } from '@suzumio/protocol/model-chat';
import { ContentStore } from '@suzumio/store/content/content-store';
import { startProject } from '@suzumio/store/projects/project-transitions';
import { storeLongestWorkspace } from '../../../shared/store/test/fixtures/longest-workspace.js';
import { asComposeStarts } from '../../../test/support/compose-limits.js';
import { freePort } from '../../../test/support/free-port.js';
import { docker } from '../../../test/support/images.js';
import { type ModelServer, startModelServer } from '../../../test/support/model-server.js';
import { eventually } from '../../../test/support/poll.js';
import { startRedis, type TestRedis } from '../../../test/support/redis.js';
import { thinkingYaml } from '../../../test/support/thinking.js';
import { blob, sealed } from '../../control-plane/test/support/packs.js';
import { type Begun, toolhostBench, type ToolhostBench } from './toolhost-client.js';

let redis: TestRedis;
let server: ModelServer;
let bench: ToolhostBench;
let container: string | undefined;
beforeEach(async () => {
  redis = await startRedis();
  server = await startModelServer(async () => {
    await sleep(1_000);
    return { text: 'Yes.' };
  });
  bench = await toolhostBench();
});
afterEach(async () => {
  if (container !== undefined) await docker('rm', '--force', '--volumes', container);
  container = undefined;
  await bench.close();
  await server.close();
  await redis.stop();
});

const agents = (...names: string[]) =>
  `{ ${names.map((one) => `${one}: { role: r, prompt: P., tools: ["*"] }`).join(', ')} }`;
const yaml = (name: string, ...names: string[]) =>
  `${thinkingYaml(server.baseURL, { name, agents: agents(...names) })}\ngit: { shared: true }\ntools: { toolpacks: [files] }\n`;

/** Starts a ToolHost on the bench's directory with the memory that Compose gives. */
async function startToolhost(more: object = {}) {
  const [worker, runner, health] = [await freePort(), await freePort(), await freePort()];
  const { root, cell } = bench.testing;
  const policy = join(root, 'policy.yaml');
  await writeFile(policy, JSON.stringify({ providers: [{ baseURL: server.baseURL }], ...more }));
  const settings = {
    SUZUMIO_ROOT: root,
    SUZUMIO_CELL: cell.id,
    SUZUMIO_REDIS_URL: redis.url,
    SUZUMIO_POLICY_FILE: policy,
    SUZUMIO_TOOLHOST_HOST: '127.0.0.1',
    SUZUMIO_TOOLHOST_WORKER_PORT: String(worker),
    SUZUMIO_TOOLHOST_RUNNER_PORT: String(runner),
    SUZUMIO_HEALTH_HOST: '127.0.0.1',
    SUZUMIO_HEALTH_PORT: String(health),
    SUZUMIO_LOG_LEVEL: 'warn',
  };
  const user = `${String(process.getuid?.())}:${String(process.getgid?.())}`;
  container = await docker(
    ...['run', '--detach', ...asComposeStarts, '--user', user, '--volume', `${root}:${root}`],
    ...Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    'suzumio-toolhost:dev',
  );
  const isHealthy = () =>
    fetch(`http://127.0.0.1:${String(health)}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually('the ToolHost is ready', isHealthy);
  return { worker: `http://127.0.0.1:${String(worker)}`, runner: `http://127.0.0.1:${String(runner)}` };
}

/** The most members and the longest texts that a question may have, in two bytes a character. */
function longestQuestion(): Buffer<ArrayBuffer> {
  const part = { type: 'text', text: `€${'x'.repeat(240)}` };
  const messages = Array.from({ length: 60 }, () => ({
    role: 'user',
    content: Array.from({ length: 1_000 }, () => part),
  }));
  const question = Buffer.from(JSON.stringify({ messages }));
  if (question.length > maxChatBytes) throw new Error('longer than a question may be');
  return question;
}

test('the longest questions, workspaces and packs of two projects together neither end a ToolHost nor delay heartbeats', async () => {
  const asking = ['a1', 'a2', 'a3'];
  const ending = ['e1', 'e2'];
  const pushing = ['p1', 'p2'];
  for (const name of ['lab', 'other'])
    await bench.testing.create(yaml(name, ...asking, ...ending, ...pushing, 'quiet'));
  const snapshots: Record<string, string> = {};
  for (const name of ['lab', 'other']) {
    const content = new ContentStore(bench.testing.cell.directory.projectDir(name));
    const [before, after] = await Promise.all(['a', 'b'].map((mark) => storeLongestWorkspace(content, mark)));
    snapshots[name] = after ?? '';
    await bench.testing.write(name, (tx) => tx.run('UPDATE agents SET snapshot = :before', { before: before ?? '' }));
  }
  const begun: Record<string, Record<string, Begun>> = { lab: {}, other: {} };
  for (const [project, all] of Object.entries(begun)) {
    for (const agent of [...asking, ...ending, ...pushing, 'quiet']) all[agent] = await bench.begin(project, agent);
  }
  const of = (project: string, agent: string) => {
    const one = begun[project]?.[agent];
    if (!one) throw new Error(`no turn of ${agent}`);
    return one;
  };
  await bench.toolhost.stop();
  const { worker, runner } = await startToolhost();

  const timed = async (what: string, asked: () => Promise<Response>) => {
    const since = Date.now();
    const status = await asked().then(
      async (answer) => {
        const text = await answer.text();
        return answer.ok ? String(answer.status) : `${String(answer.status)} ${text}`;
      },
      (error: unknown) => String(error),
    );
    return { what, status, ms: Date.now() - since };
  };
  const report = (project: string, agent: string, route: string, body: unknown) => {
    const { turn, answer } = of(project, agent);
    const url = `${worker}/projects/${project}/turns/${turn}/attempts/1/${route}`;
    const headers = { authorization: `Bearer ${answer.leaseToken}`, 'content-type': 'application/json' };
    return timed(`${project} ${route}`, () => fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }));
  };
  const runnerHeaders = (project: string, agent: string) => ({
    authorization: `Bearer ${of(project, agent).answer.toolToken}`,
    'content-type': 'application/json',
  });
  const question = longestQuestion();
  const ask = (project: string, agent: string, step: string) => {
    const headers = { ...runnerHeaders(project, agent), [stepHeader]: step };
    return timed(`${project} ask`, () =>
      fetch(`${runner}/v1/chat/completions`, {
        method: 'POST',

        headers,
        body: question,
      }),
    );
  };
  const pack = sealed(Buffer.concat(Array<Buffer>(500_000).fill(blob(Buffer.from('0123456789')))), 500_000);
  const hash = createHash('sha256').update(pack).digest('hex');
  const push = async (project: string, agent: string) => {
    const headers = runnerHeaders(project, agent);
    await timed('put', () => fetch(`${runner}/git/packs/${hash}`, { method: 'PUT', headers, body: pack }));
    const updates = [{ ref: `refs/heads/suzumio/${agent}`, from: null, to: 'a'.repeat(40) }];
    const body = JSON.stringify({
      project,
      agent,
      turn: of(project, agent).turn,
      key: `key-of-${agent}-1`,
      updates,
      pack: hash,
    });
    return timed(`${project} push`, () => fetch(`${runner}${pushPath}`, { method: 'POST', headers, body }));
  };

  const over = new AbortController();
  const beats: Awaited<ReturnType<typeof timed>>[] = [];
  const beating = (async () => {
    while (!over.signal.aborted) {
      beats.push(await report('other', 'quiet', 'heartbeat', {}));
      await sleep(200);
    }
  })();
  const attack = await Promise.all(
    ['lab', 'other'].flatMap((project) => [
      ...asking.map((agent) => ask(project, agent, '0')),
      ...ending.map((agent) =>
        report(project, agent, 'complete', { output: { text: 'Done.' }, snapshot: snapshots[project] }),
      ),
      ...pushing.map((agent) => push(project, agent)),
    ]),
  );
  over.abort();
  await beating;
  expect(await stateOf('{{.State.Status}} {{.State.OOMKilled}}')).toBe('running false');
  expect(beats.filter(({ status }) => status !== '200')).toEqual([]);
  expect(attack.filter(({ status }) => status !== '200')).toEqual([]);
});

/** What the engine knows of the container. */
const stateOf = (format: string) => docker('inspect', '--format', format, container ?? '');

const greedy = `
export const createControllerToolpack = () => ({
  async support(tool, { fast }) {
    const all = [];
    for (;;) {
      all.push(Buffer.alloc(fast ? 64e6 : 1e6, 1));
      if (!fast) await new Promise((done) => setTimeout(done, 1));
    }
  },
});
`;

test('a controller that takes memory as fast as it can ends, and its ToolHost goes on', async () => {
  const pack = join(bench.testing.root, 'greedy');
  const toolpacks = { directories: [pack] };
  await mkdir(pack);
  const manifest = { id: 'greedy', tools: [{ name: 'greedy.take' }] };
  await writeFile(join(pack, 'suzumio.toolpack.json'), JSON.stringify(manifest));
  await writeFile(join(pack, 'runner.mjs'), 'export default () => ({});\n');
  await writeFile(join(pack, 'controller.mjs'), greedy);
  const text = `
name: lab
task: Do it.
backend: { runner: { mode: mock } }
agents: { dev: { role: r, prompt: P., tools: [greedy.take] } }
tools: { toolpacks: [{ id: greedy, path: ${pack} }] }
`;
  const { config } = loadProjectText(text, 'file');
  await bench.restart({ policy: { ...defaultPolicy, toolpacks: { ...defaultPolicy.toolpacks, ...toolpacks } } });
  await bench.testing.cell.createProject({ config, source: text, actor: 'test', mayLoad: () => true });
  await bench.testing.cell.catalog.projects.noteRunning('lab');
  await bench.testing.write('lab', (tx) => startProject(tx, 'test'));
  const { turn, answer } = await bench.begin('lab', 'dev');
  await bench.toolhost.stop();
  const { worker, runner } = await startToolhost({ toolpacks });
  const whose = { project: 'lab', agent: 'dev', turn };
  const call = (path: string, body: object) => bench.post(`${runner}${path}`, answer.toolToken, { ...whose, ...body });
  const take = async (step: string, fast: boolean) => {
    expect(await call('/tool/begin', { step, tool: 'greedy.take', input: { fast } })).toMatchObject({ status: 200 });
    return call('/support', { step, number: 1, toolpack: 'greedy', asks: { tool: 'greedy.take', input: { fast } } });
  };
  for (const [at, fast] of [true, false, true].entries()) {
    expect(await take(`${String(at + 1)}.0`, fast)).toMatchObject({
      body: { code: 'toolpack-failed', detail: expect.stringMatching(/memory/) },
    });
  }
  const beat = `${worker}/projects/lab/turns/${turn}/attempts/1/heartbeat`;
  expect(await bench.post(beat, answer.leaseToken, {})).toMatchObject({ status: 200 });
  expect(await stateOf('{{.State.Status}} {{.RestartCount}}')).toBe('running 0');
});
