import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AgentView } from '../shared/contract/src/model/agent.js';
import type { TurnDetail } from '../shared/contract/src/model/turn.js';
import { gatewayOf } from '../services/turn-worker/test/support/gateway.js';
import { eventually } from './support/poll.js';
import { docker } from './support/images.js';
import { brokenInvariants, openProject } from './support/project.js';
import { type Stack, startStack } from './support/stack.js';

const foreignImage = `suzumio-e2e-bridge:${randomBytes(4).toString('hex')}`;

/** The example of a foreign runner, in an image that fails after its calls in the first attempt. */
async function buildForeignImage(): Promise<void> {
  const context = fileURLToPath(new URL('fixtures/foreign-runner', import.meta.url));
  await docker('build', '--quiet', '--tag', foreignImage, context);
  const command = `node /opt/foreign/runner.mjs && grep -q '"attempt":2' /turn/input.json`;
  const container = await docker('create', foreignImage);
  const entrypoint = `ENTRYPOINT ${JSON.stringify(['sh', '-c', command])}`;
  await docker('commit', '--change', entrypoint, container, foreignImage);
  await docker('rm', container);
}

beforeAll(buildForeignImage);
afterAll(() => docker('image', 'rm', '--force', foreignImage));

/** Knocks at what the body of its mail names, and tells what it was answered. */
const explorer = `
const { hosts, ports } = JSON.parse(process.argv[2]);
for (const host of hosts) for (const port of ports) {
  const answer = await fetch('http://' + host + ':' + port + '/api/projects', { signal: AbortSignal.timeout(3000) })
    .then(async (response) => response.status + ' ' + (await response.json()).code, (error) => error.cause?.code ?? error.name);
  console.log(host + ' ' + port + ' ' + answer);
}
`;

describe.each([
  ['on loopback, as it is by default', '127.0.0.1', ['ECONNREFUSED', 'ECONNREFUSED']],
  ['on every address', '0.0.0.0', ['403 foreign-host', '401 unauthenticated']],
])('agents on a bridge, of a cell whose API listens %s', (_name, host, answers) => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack({ policy: { networks: ['none', 'bridge'] }, environment: { SUZUMIO_HOST: host } });
  });
  afterAll(async () => {
    await stack.stop();
    expect(await docker('ps', '--all', '--quiet', '--filter', `label=suzumio.cell=${stack.cell}`)).toBe('');
  });

  /** Makes a project of one agent, and waits until its first turn has ended. */
  async function firstTurn(project: string, file: string, body: string): Promise<TurnDetail> {
    expect(await stack.api('POST', '/projects', { file, start: true })).toMatchObject({ status: 201 });
    const sent = await stack.api('POST', `/projects/${project}/messages`, { recipient: 'lone', body });
    expect(sent.status).toBe(201);
    return lastTurn(project);
  }

  async function lastTurn(project: string): Promise<TurnDetail> {
    await eventually('the turn has ended', async () => {
      const { body } = await stack.api('GET', `/projects/${project}/agents`);
      const [agent] = (body as { items: AgentView[] }).items;
      return agent !== undefined && agent.turns > 0 && agent.state !== 'running';
    });
    return (await stack.api('GET', `/projects/${project}/turns/lone:1`)).body as TurnDetail;
  }

  test('reach neither the API, nor a ToolHost, nor Redis', async () => {
    const gateway = await gatewayOf('bridge');
    const portOf = (url: string) => Number(new URL(url).port);
    const closed = [
      stack.redis.url,
      ...stack.toolhosts.flatMap(({ worker, runner }) => [worker, runner]),
      ...Object.values(stack.services).flatMap((services) => services.map(({ healthUrl }) => healthUrl)),
    ].map(portOf);
    const hosts = ['host.docker.internal', gateway];
    const file = `
name: explorer
task: Look around.
backend:
  docker: { network: bridge, keep: never }
  runner:
    mode: mock
    script:
      - agent: lone
        steps:
          - write: { path: explorer.mjs, text: ${JSON.stringify(explorer)} }
          - run: { command: 'node explorer.mjs "{{mail.0.body}}"' }
          - text: "{{steps.1.output}}"
agents:
  lone: { role: tester, prompt: Explore., tools: [] }
`;
    const turn = await firstTurn('explorer', file, JSON.stringify({ hosts, ports: [portOf(stack.url), ...closed] }));
    expect(turn.failure).toBeNull();
    expect(turn.text?.trim().split('\n')).toEqual(
      hosts.flatMap((at, index) => [
        `${at} ${String(portOf(stack.url))} ${answers[index] ?? ''}`,
        ...closed.map((port) => `${at} ${String(port)} ECONNREFUSED`),
      ]),
    );
  });

  test('complete a turn with a runner that knows only the contract, whose second attempt repeats nothing', async () => {
    const file = `
name: foreign
task: Count.
backend: { image: '${foreignImage}', docker: { network: bridge, keep: never }, runner: { mode: mock } }
agents:
  lone: { role: counter, prompt: Count., tools: [messages.send, artifacts.publish] }
`;
    const failed = await firstTurn('foreign', file, 'Count.');
    expect(failed).toMatchObject({ status: 'failed', failure: { code: 'non-zero-exit' } });
    expect((await stack.api('POST', '/projects/foreign/agents/lone/retry', {})).status).toBe(200);
    const completed = await lastTurn('foreign');
    expect(completed).toMatchObject({ status: 'completed', attempt: 2, text: expect.stringMatching(/^Counted \d+/) });

    const database = openProject(stack.root, 'foreign');
    try {
      expect(brokenInvariants(database)).toEqual([]);
      expect(database.all('SELECT tool, step, status FROM tool_calls ORDER BY rowid')).toEqual([
        { tool: 'artifacts.publish', step: 'seq.1', status: 'succeeded' },
        { tool: 'messages.send', step: 'seq.2', status: 'succeeded' },
      ]);
      expect(database.all(`SELECT name FROM artifacts`)).toEqual([{ name: 'lone-count.md' }]);
      expect(database.all(`SELECT sender FROM messages WHERE recipient = 'user'`)).toEqual([{ sender: 'lone' }]);
    } finally {
      database.close();
    }
  });
});

test('a project that asks for a network which the policy does not name is refused', async () => {
  const stack = await startStack({});
  try {
    const file = `
name: open
task: Get out.
backend: { docker: { network: bridge }, runner: { mode: mock } }
agents: { lone: { role: tester, prompt: Go., tools: [] } }
`;
    expect(await stack.api('POST', '/projects', { file })).toMatchObject({
      status: 403,
      body: { code: 'policy-denied' },
    });
  } finally {
    await stack.stop();
  }
});
