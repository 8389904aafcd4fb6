import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AgentView } from '../shared/contract/src/model/agent.js';
import type { MessageView } from '../shared/contract/src/model/message.js';
import type { TurnDetail } from '../shared/contract/src/model/turn.js';
import type { RunnerTurnInput } from '../shared/protocol/src/runner.js';
import { eventually } from './support/poll.js';
import { docker } from './support/images.js';
import { overlappingAttempts } from './support/outcomes.js';
import { brokenInvariants, openProject } from './support/project.js';
import { type Stack, startStack } from './support/stack.js';

let stack: Stack;
let image: string;

beforeAll(async () => {
  stack = await startStack({ slots: 4 });
  image = `suzumio-e2e-hostile:${stack.cell}`;
  const context = fileURLToPath(new URL('fixtures/hostile-runner', import.meta.url));
  await docker('build', '--quiet', '--tag', image, context);
});

afterAll(async () => {
  await stack.stop();
  expect(await containers()).toBe('');
  await docker('image', 'rm', '--force', image);
});

const containers = () => docker('ps', '--all', '--quiet', '--filter', `label=suzumio.cell=${stack.cell}`);

/** An answer of the API that has to be good. */
async function api<Body>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Body> {
  const answer = await stack.api(method, path, body);
  if (answer.status >= 300) throw new Error(`${path}: ${String(answer.status)} ${JSON.stringify(answer.body)}`);
  return answer.body as Body;
}

async function agentOf(project: string, agent: string): Promise<AgentView | undefined> {
  const { items } = await api<{ items: AgentView[] }>('GET', `/projects/${project}/agents`);
  return items.find(({ id }) => id === agent);
}

const lastTurn = (project: string, { id, turns }: AgentView) =>
  api<TurnDetail>('GET', `/projects/${project}/turns/${id}:${String(turns)}`);

describe('a runner that does what it likes', () => {
  const project = 'hostile';
  const failures: Record<string, { code: string; sentence: RegExp }> = {
    garbage: { code: 'output-invalid', sentence: /output\.json is not JSON/ },
    truncated: { code: 'output-invalid', sentence: /not JSON, or was cut off/ },
    silent: { code: 'output-missing', sentence: /without leaving an output\.json/ },
    flooding: { code: 'non-zero-exit', sentence: /exit code 3.*the last words/s },
    forking: { code: 'time-limit', sentence: /limit of 60000 ms/ },
    greedy: { code: 'out-of-memory', sentence: /134217728 bytes of memory/ },
    deaf: { code: 'time-limit', sentence: /limit of 60000 ms/ },
  };
  const agents = [...Object.keys(failures), 'curious', 'decent'];
  const mail = new Map<string, string>();

  const send = async (recipient: string, body: string) => {
    const { id } = await api<MessageView>('POST', `/projects/${project}/messages`, { recipient, body });
    return id;
  };

  beforeAll(async () => {
    const file = `
name: ${project}
task: Misbehave.
turn: { timeout: 60s }
backend:
  image: ${image}
  docker: { keep: never, memory: 128m, pids: 48 }
  runner: { mode: mock }
agents:
${agents.map((agent) => `  ${agent}: { role: tester, prompt: Be ${agent}., tools: [messages.send] }`).join('\n')}
`;
    await api('POST', '/projects', { file, start: true });
    const ports = [
      stack.url,
      stack.redis.url,
      ...stack.toolhosts.flatMap(({ worker, runner }) => [worker, runner]),
    ].map((url) => Number(new URL(url).port));
    const paths = ['GET /api/projects', 'GET /healthz', 'POST /projects/hostile/turns/x/claim', 'GET /tool'];
    for (const agent of agents) {
      mail.set(agent, await send(agent, agent === 'curious' ? JSON.stringify({ ports, paths }) : 'Begin.'));
    }
  });

  test.each(Object.entries(failures))('fails its turn, and nothing else: %s', async (agent, { code, sentence }) => {
    await eventually(`${agent} has failed`, async () => (await agentOf(project, agent))?.state === 'failed');
    const seen = await agentOf(project, agent);
    expect(seen?.failure).toMatchObject({
      code,
      message: expect.stringMatching(sentence),
      turnNumber: 1,
      attempt: 1,
    });
    const turn = seen && (await lastTurn(project, seen));
    expect(turn).toMatchObject({ status: 'failed', failure: { code }, reads: [mail.get(agent)] });
    const { items } = await api<{ items: MessageView[] }>('GET', `/projects/${project}/messages`);
    const recipients = items.find(({ id }) => id === mail.get(agent))?.recipients;
    expect(recipients).toMatchObject([{ agent, turn: turn?.id }]);
  });

  test('reaches nothing but its own routes of the ToolHost', async () => {
    await eventually('curious has ended', async () => (await agentOf(project, 'curious'))?.state === 'quiet');
    const seen = await agentOf(project, 'curious');
    const { text } = (seen && (await lastTurn(project, seen))) ?? {};
    expect(JSON.parse(text ?? '')).toEqual({
      reached: [],
      interfaces: ['lo'],
      answers: {
        'GET /api/projects': 404,
        'GET /healthz': 404,
        'POST /projects/hostile/turns/x/claim': 404,
        'GET /tool': 404,
      },
    });
  });

  test('keeps nobody from working, and is as good as any when its turn is retried', async () => {
    await send('decent', 'Once more.');
    for (const agent of Object.keys(failures)) await api('POST', `/projects/${project}/agents/${agent}/retry`, {});
    const states = async () => {
      const { items } = await api<{ items: AgentView[] }>('GET', `/projects/${project}/agents`);
      return items;
    };
    await eventually('nothing is left to do', async () =>
      (await states()).every(({ state, unread }) => state === 'quiet' && unread === 0),
    );
    for (const agent of await states()) {
      const turn = await lastTurn(project, agent);
      const attempt = agent.id in failures ? 2 : 1;
      expect(turn).toMatchObject({ status: 'completed', attempt });
      if (agent.id in failures) {
        expect(turn).toMatchObject({ number: 1, text: 'Behaved in attempt 2.', reads: [mail.get(agent.id)] });
      }
    }
    const database = openProject(stack.root, project);
    try {
      expect(brokenInvariants(database)).toEqual([]);
      expect(overlappingAttempts(database)).toEqual([]);
    } finally {
      database.close();
    }
  });
});

describe('a tool token', () => {
  const project = 'tokens';
  const inputs = new Map<string, RunnerTurnInput>();

  beforeAll(async () => {
    const file = `
name: ${project}
task: Hold your tokens.
backend:
  docker: { keep: never }
  runner: { mode: mock, script: [{ agent: holder, steps: [{ hang: true }] }] }
agents:
  holder: { role: holder, count: 2, prompt: Hold., tools: [messages.send] }
`;
    await api('POST', '/projects', { file, start: true });
    for (const recipient of ['holder-1', 'holder-2']) {
      await api('POST', `/projects/${project}/messages`, { recipient, body: 'Begin.' });
    }
    const turns = join(dirname(stack.root), 'worker-0', 'turns');
    await eventually('both turns run', async () => {
      for (const directory of await readdir(turns)) {
        // It may not be there yet, or not whole.
        const input = await readFile(join(turns, directory, 'input.json'), 'utf8')
          .then((text) => JSON.parse(text) as Partial<RunnerTurnInput>)
          .catch((): Partial<RunnerTurnInput> => ({}));
        if (input.project === project && input.agent) inputs.set(input.agent.id, input as RunnerTurnInput);
      }
      return inputs.size === 2;
    });
  });

  const inputOf = (agent: string): RunnerTurnInput => {
    const input = inputs.get(agent);
    if (!input) throw new Error(`${agent} does not run`);
    return input;
  };
  const listener = (kind: 'worker' | 'runner') => stack.toolhosts[0]?.[kind] ?? '';

  async function call(url: string, token: string, body: unknown): Promise<{ status: number; code?: unknown }> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    const { code } = (await response.json()) as { code?: unknown };
    return { status: response.status, ...(code === undefined ? {} : { code }) };
  }

  function send(token: string, of: RunnerTurnInput, changes: object = {}) {
    const input = { recipient: 'user', priority: 'P1', body: 'Here.' };
    const body = {
      project: of.project,
      agent: of.agent.id,
      turn: of.turn.id,
      tool: 'messages.send',
      input,
      ...changes,
    };
    return call(`${listener('runner')}/tool`, token, body);
  }

  test('opens its own turn, and no other one', async () => {
    const [one, two] = [inputOf('holder-1'), inputOf('holder-2')];
    expect(await send(one.token, one)).toEqual({ status: 200 });
    expect(await send(one.token, two)).toEqual({ status: 403, code: 'forbidden' });
    expect(await send(one.token, one, { agent: two.agent.id })).toEqual({ status: 403, code: 'forbidden' });
    expect(await send(one.token, one, { project: 'hostile' })).toEqual({ status: 403, code: 'forbidden' });
    const rejected = { status: 401, code: 'token-rejected' };
    expect(await send(one.token.replace(one.turn.id, two.turn.id), two)).toEqual(rejected);
    expect(await send(one.token.replace('.tokens.', '.hostile.'), one, { project: 'hostile' })).toEqual({
      ...rejected,
    });
    expect(await send(one.token.replace(/^tool\./, 'lease.'), one)).toEqual(rejected);
    expect(await send(`${one.token.slice(0, -1)}${one.token.endsWith('A') ? 'B' : 'A'}`, one)).toEqual(rejected);
    expect(await send('x', one)).toEqual(rejected);

    const heartbeat = `projects/${project}/turns/${one.turn.id}/attempts/1/heartbeat`;
    expect(await call(`${listener('worker')}/${heartbeat}`, one.token, {})).toEqual(rejected);
    const claim = { claimId: 'a'.repeat(32), worker: 'w', engine: 'e', protocol: 2 };
    const claimPath = `projects/${project}/turns/${one.turn.id}/claim`;
    expect(await call(`${listener('worker')}/${claimPath}`, one.token, claim)).toEqual(rejected);
    expect(await call(`${listener('runner')}/${claimPath}`, one.token, claim)).toMatchObject({ status: 404 });
  });

  test('opens nothing once its attempt is over, and the container of that is gone', async () => {
    const one = inputOf('holder-1');
    await api('POST', `/projects/${project}/stop`, { now: true });
    expect(await send(one.token, one)).toEqual({ status: 401, code: 'token-rejected' });
    await eventually('no container runs', async () => (await containers()) === '');
    const database = openProject(stack.root, project);
    try {
      expect(brokenInvariants(database)).toEqual([]);
      const calls = database.all(
        `SELECT agent_id AS agent, status, error_code AS code, count(*) AS count FROM tool_calls GROUP BY 1, 2, 3`,
      );
      expect(calls).toEqual([
        { agent: 'holder-1', status: 'refused', code: 'forbidden', count: 3 },
        { agent: 'holder-1', status: 'succeeded', code: null, count: 1 },
      ]);
    } finally {
      database.close();
    }
  });
});
