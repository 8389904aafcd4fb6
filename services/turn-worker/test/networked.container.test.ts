import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import Docker from 'dockerode';
import { freePort } from '../../../test/support/free-port.js';
import { relayPlace } from '../src/engine/docker/networks.js';
import { agentCommand, baseImage, deriveImage, docker } from './support/images.js';
import { gatewayOf } from './support/gateway.js';
import { until } from './support/until.js';
import { testPolicy, World } from './support/world.js';

/** Calls a tool by the plain contract, looks around, and tells what it found. */
const tourist = `
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
const { project, agent, turn, workspace, controllerUrl, token, tools } = JSON.parse(fs.readFileSync('/turn/input.json', 'utf8'));
const authorization = 'Bearer ' + token;
const call = async (tool, input, more = {}) => {
  const body = JSON.stringify({ project, agent: agent.id, turn: turn.id, tool, input });
  const response = await fetch(controllerUrl + '/tool', { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body, ...more });
  return { status: response.status, body: await response.json() };
};
const knock = (host, port) => new Promise((resolve) => {
  const socket = net.connect({ host, port, timeout: 2000 })
    .on('connect', () => { socket.destroy(); resolve('ok'); })
    .on('timeout', () => { socket.destroy(); resolve('timeout'); })
    .on('error', (error) => resolve(error.code));
});
const { hosts = [], ports = [] } = fs.existsSync('/workspace/ask.json') ? JSON.parse(fs.readFileSync('/workspace/ask.json', 'utf8')) : {};
fs.mkdirSync('/workspace/reports', { recursive: true });
fs.writeFileSync('/workspace/reports/found.md', 'What was found.');
fs.writeFileSync('/workspace/empty.md', '');
fs.symlinkSync('/etc', '/workspace/etc');
const knocks = {};
for (const host of hosts) for (const port of ports) knocks[host + ':' + port] = await knock(host, port);
const found = {
  controllerUrl,
  environment: process.env,
  sent: await call('messages.send', { body: 'x' }),
  published: await call('artifacts.publish', { path: './reports/found.md', name: 'found' }),
  publishedEmpty: await call('artifacts.publish', { path: '/workspace/empty.md' }),
  publishedLink: await call('artifacts.publish', { path: 'etc/hostname' }),
  publishedOutside: await call('artifacts.publish', { path: '../../../../etc/hostname' }),
  otherToken: (await call('messages.send', {}, { headers: { authorization: authorization.replace('tool.', 'lease.') } })).status,
  noToken: (await call('messages.send', {}, { headers: {} })).status,
  claim: (await fetch(controllerUrl + '/projects/paper/turns/' + turn.id + '/claim', { method: 'POST', headers: { authorization } })).status,
  interfaces: Object.keys(os.networkInterfaces()).filter((name) => name !== 'lo'),
  files: fs.readdirSync('/turn').sort(),
  knocks,
};
fs.writeFileSync('/turn/output.json', JSON.stringify({ text: JSON.stringify(found) }));
`;

let world: World;
let image: Awaited<ReturnType<typeof deriveImage>>;
const network = `suzumio-test-${randomBytes(6).toString('hex')}`;

beforeAll(async () => {
  image = await deriveImage(baseImage, [agentCommand]);
  await docker.createNetwork({ Name: network, Internal: true });
  world = await World.open({
    settings: { policy: { ...testPolicy, networks: ['none', 'bridge', 'host', network, 'no-such-network'] } },
  });
});

afterAll(async () => {
  await world.close();
  await docker.getNetwork(network).remove();
  await image.remove();
});

/** Runs the tourist, who knocks at the ToolHost's ports as well. */
async function visit(joined: string, more: object = {}) {
  const gateway = await gatewayOf(joined === 'host' ? 'bridge' : joined);
  const ports = [new URL(world.toolhost.toolhostUrl).port, world.toolhost.runnerPort].map(Number);
  const ask = JSON.stringify({ hosts: ['host.docker.internal', gateway], ports });
  const snapshot = world.snapshotOf({ 'agent.mjs': tourist, 'ask.json': ask });
  const turn = await world.run({
    image: image.name,
    agent: `on-${joined}`,
    snapshot,
    sandbox: { network: joined, ...more },
  });
  expect(turn.failed).toBeUndefined();
  const found = JSON.parse(turn.completed?.output.text ?? '{}') as Record<string, unknown> & {
    controllerUrl: string;
    environment: Record<string, string>;
  };
  return { turn, found, gateway };
}

const port = (url: string) => Number(new URL(url).port);

describe('a container on a bridge', () => {
  test('reaches the relay of its own turn by the plain contract, and nothing else of Suzumio', async () => {
    const { turn, found, gateway } = await visit('bridge');
    const { answer } = turn;
    expect(found.controllerUrl).toMatch(/^http:\/\/host\.docker\.internal:\d+$/);
    expect(found).toMatchObject({
      sent: { status: 200, body: { output: { echo: { body: 'x' } } } },
      otherToken: 401,
      noToken: 401,
      claim: 404,
      interfaces: ['eth0'],
      files: ['door', 'input.json'],
    });
    // The ToolHost listens on loopback, as the API does.
    expect(Object.entries(found['knocks'] as object)).toEqual(
      ['host.docker.internal', gateway].flatMap((host) =>
        [new URL(world.toolhost.toolhostUrl).port, world.toolhost.runnerPort].map((at) => [
          `${host}:${String(at)}`,
          'ECONNREFUSED',
        ]),
      ),
    );
    expect(found.environment).toMatchObject({
      SUZUMIO_TURN_DIR: '/turn',
      SUZUMIO_PROJECT_ID: 'paper',
      SUZUMIO_AGENT_ID: 'on-bridge',
      SUZUMIO_TURN_ID: answer.input.turn.id,
      SUZUMIO_AGENT_TOKEN: answer.toolToken,
      SUZUMIO_CONTROLLER_URL: found.controllerUrl,
    });
  });

  test('publishes by the path alone, and only what is a file of its workspace', async () => {
    const { turn, found } = await visit('bridge');
    const uploaded = (text: string) => ({ sha256: world.toolhost.put(text), sizeBytes: text.length });
    expect(found).toMatchObject({
      published: { body: { output: { echo: { name: 'found', ...uploaded('What was found.') } } } },
      publishedEmpty: { body: { output: { echo: uploaded('') } } },
    });
    expect(found['publishedLink']).toEqual({ status: 200, body: { output: { echo: { path: 'etc/hostname' } } } });
    expect(found['publishedOutside']).toMatchObject({
      body: { output: { echo: { path: '../../../../etc/hostname' } } },
    });
    const host = await readFile('/etc/hostname', 'utf8').catch(() => undefined);
    expect([...world.toolhost.contents.values()].map(String)).not.toContain(host);
    expect(turn.completed?.snapshot).toBeDefined();
  });

  test('finds its relay where the project file says, if it says so', async () => {
    const controllerUrl = `${world.toolhost.runnerUrl}/elsewhere`;
    const turn = await world.run({
      image: image.name,
      program: `
        import fs from 'node:fs';
        const { controllerUrl } = JSON.parse(fs.readFileSync('/turn/input.json', 'utf8'));
        const text = [controllerUrl, process.env.SUZUMIO_CONTROLLER_URL].join(' ');
        fs.writeFileSync('/turn/output.json', JSON.stringify({ text }));
      `,
      sandbox: { network: 'bridge', controllerUrl },
    });
    expect(turn.completed?.output.text).toBe(`${controllerUrl} ${controllerUrl}`);
  });

  test("runs Suzumio's own runner, too", async () => {
    const send = { tool: 'messages.send', input: { recipient: 'user', priority: 'P1', body: 'x' } };
    const publish = { tool: 'artifacts.publish', input: { path: 'note.md' } };
    const write = { write: { path: 'note.md', text: 'A note.' } };
    const turn = await world.run({ steps: [send, write, publish, { text: 'sent' }], sandbox: { network: 'bridge' } });
    expect(turn.completed?.output.text).toBe('sent');
    expect(world.toolhost.contentPuts).toContain(world.toolhost.put('A note.'));
  });
});

describe('the relay', () => {
  const waiting = `
    import fs from 'node:fs';
    const done = setInterval(() => {
      if (!fs.existsSync('/workspace/go')) return;
      clearInterval(done);
      fs.writeFileSync('/turn/output.json', JSON.stringify({ text: 'gone' }));
    }, 50);
  `;

  async function relayOf(agent: string) {
    const turn = await world.give({ image: image.name, agent, program: waiting, sandbox: { network: 'bridge' } });
    const id = await world.containerOf(turn);
    const { Config: config } = await docker.getContainer(id).inspect();
    const url = config.Env.find((entry) => entry.startsWith('SUZUMIO_CONTROLLER_URL='))?.split('=')[1] ?? '';
    const end = async () => {
      await writeFile(`${world.directory}/w/workspaces/${world.cell}/paper.1/${agent}/go`, '');
      await world.toolhost.ended(turn.answer.input.turn.id);
    };
    return { turn, port: port(url), address: await gatewayOf('bridge'), end };
  }

  const post = (url: string, token: string, body: string) =>
    fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body }).then(({ status }) => status);

  test('is of one turn: the token of another one opens nothing, and it closes with its attempt', async () => {
    const [one, two] = [await relayOf('one'), await relayOf('two')];
    expect(one.port).not.toBe(two.port);
    const call = ({ turn }: typeof one) =>
      JSON.stringify({ project: 'paper', agent: 'x', turn: turn.answer.input.turn.id, tool: 't', input: {} });
    const at = (relay: typeof one) => `http://${relay.address}:${String(relay.port)}/tool`;
    expect(await post(at(one), one.turn.answer.toolToken, call(one))).toBe(200);
    const asked = world.toolhost.runnerRequests.length;
    expect(await post(at(one), two.turn.answer.toolToken, call(two))).toBe(401);
    expect(await post(at(two), one.turn.answer.toolToken, call(one))).toBe(401);
    expect(await post(at(one), one.turn.answer.leaseToken, call(one))).toBe(401);
    expect(world.toolhost.runnerRequests.length).toBe(asked);
    await one.end();
    await expect(post(at(one), one.turn.answer.toolToken, call(one))).rejects.toThrow('fetch failed');
    expect(await post(at(two), two.turn.answer.toolToken, call(two))).toBe(200);
    await two.end();
  });

  test('is not on any other address of this host', async () => {
    const relay = await relayOf('addressed');
    const others = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .map(({ address, family }) => (family === 'IPv4' ? address : '127.0.0.1'))
      .filter((address) => address !== relay.address);
    for (const host of new Set(others)) {
      const outcome = new Promise((resolve) => {
        const socket = connect(relay.port, host, () => resolve('open')).on('error', () => resolve('refused'));
        socket.on('connect', () => socket.destroy());
      });
      expect([host, await outcome]).toEqual([host, 'refused']);
    }
    await relay.end();
  });

  test('takes garbage, and bytes that come one at a time, for no longer than it must', async () => {
    const relay = await relayOf('pestered');
    const garbage = connect(relay.port, relay.address);
    garbage.write('\x16\x03\x01 no HTTP at all\r\n\r\n');
    expect((await buffer(garbage).catch(() => Buffer.alloc(0))).toString()).not.toContain('200');

    const slow = connect(relay.port, relay.address).on('error', () => undefined);
    const begun = performance.now();
    let cut = false;
    slow.on('close', () => (cut = true));
    const head = 'POST /tool HTTP/1.1\r\nhost: x\r\nx: ';
    let at = 0;
    const dripping = setInterval(() => slow.write(head[at++] ?? 'y'), 50);
    await until(() => cut, 'the slow connection to be cut');
    clearInterval(dripping);
    expect(performance.now() - begun).toBeGreaterThan(5_000);
    await relay.end();
  });

  test('leaves room for others, however many connections one address opens', async () => {
    const relay = await relayOf('crowded');
    const sockets = Array.from({ length: 80 }, () =>
      connect({ host: relay.address, port: relay.port, localAddress: '127.0.0.1' }).on('error', () => undefined),
    );
    const cut: number[] = [];
    for (const [index, socket] of sockets.entries()) socket.on('close', () => cut.push(index));
    await until(() => cut.length >= 64, 'most of them to be cut');
    // For headers that do not come, the server would cut the first ones first.
    expect(Math.min(...cut.slice(0, 64))).toBe(16);
    const body = JSON.stringify({
      project: 'paper',
      agent: 'crowded',
      turn: relay.turn.answer.input.turn.id,
      tool: 't',
      input: {},
    });
    expect(await post(`http://${relay.address}:${String(relay.port)}/tool`, relay.turn.answer.toolToken, body)).toBe(
      200,
    );
    for (const socket of sockets) socket.destroy();
    await relay.end();
  });
});

describe('another network', () => {
  test('with a name is joined, and its relay is at its own gateway', async () => {
    const { found, gateway } = await visit(network);
    expect(found).toMatchObject({ sent: { status: 200 }, interfaces: ['eth0'] });
    expect(gateway).not.toBe(await gatewayOf('bridge'));
    const turn = await world.give({
      image: image.name,
      agent: 'named',
      program: 'setInterval(() => {}, 1000)',
      sandbox: { network },
      timeoutMs: 10_000,
    });
    const { HostConfig: host, NetworkSettings: settings } = await docker
      .getContainer(await world.containerOf(turn))
      .inspect();
    expect(host).toMatchObject({ NetworkMode: network, ExtraHosts: [`host.docker.internal:${gateway}`] });
    expect(Object.keys(settings.Networks)).toEqual([network]);
    await world.toolhost.ended(turn.answer.input.turn.id);
  });

  test('of the host itself is joined where the policy names it', async () => {
    const { found } = await visit('host');
    expect(found).toMatchObject({ sent: { status: 200 } });
    const lasting = Object.keys(networkInterfaces()).filter((name) => !/^(lo|veth|br-|docker)/.test(name));
    expect(found['interfaces']).toEqual(expect.arrayContaining(lasting));
  });

  test('that is not there is named', async () => {
    const { failed } = await world.run({ image: image.name, sandbox: { network: 'no-such-network' } });
    expect(failed?.failure).toMatchObject({
      code: 'container-start-failed',
      message: expect.stringContaining('no network no-such-network'),
    });
  });
});

describe('where a relay listens', () => {
  /** An engine whose networks this host has no gateway of, as a worker in a container finds it. */
  const elsewhere = <Result>(subnet: string, use: (engine: Docker) => Promise<Result>): Promise<Result> =>
    telling({ Subnet: subnet, Gateway: subnet.replace(/\d+\/24$/, '254') }, use);

  /** An engine that tells this of its networks. */
  async function telling<Result>(subnet: object, use: (engine: Docker) => Promise<Result>): Promise<Result> {
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ IPAM: { Config: [subnet] } }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      return await use(new Docker({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }));
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  test("is the network's gateway on the engine's host", async () => {
    const gateway = await gatewayOf('bridge');
    expect(await relayPlace(docker, 'bridge', undefined)).toEqual({ address: gateway, host: gateway });
    expect(await relayPlace(docker, 'host', undefined)).toEqual({ address: '127.0.0.1', host: '127.0.0.1' });
  });

  test.each([
    [{ Subnet: '127.86.0.0/16' }, '127.86.0.1'],
    [{ Subnet: '127.86.0.128/25', Gateway: '' }, '127.86.0.129'],
    [{ Subnet: '127.86.0.77/24' }, '127.86.0.1'],
  ])(
    'is the first address of a network whose gateway a just started engine does not tell yet: %j',
    async (subnet, address) => {
      const place = await telling(subnet, (engine) => relayPlace(engine, 'bridge', undefined));
      expect(place).toEqual({ address, host: address });
    },
  );

  test("is the worker's own address in the network elsewhere", async () => {
    const own = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ family, internal, netmask }) => family === 'IPv4' && !internal && netmask === '255.255.255.0');
    if (own === undefined) return;
    const subnet = own.address.replace(/\d+$/, '0/24');
    const place = await elsewhere(subnet, (engine) => relayPlace(engine, 'agents', undefined));
    expect(place).toEqual({ address: own.address, host: own.address });
  });

  test('is what the operator says where there is no such address, and said to be missing otherwise', async () => {
    await elsewhere('198.51.100.0/24', async (engine) => {
      await expect(relayPlace(engine, 'agents', undefined)).rejects.toMatchObject({
        code: 'container-start-failed',
        message: expect.stringContaining('SUZUMIO_RELAY_HOST'),
      });
      expect(await relayPlace(engine, 'agents', '0.0.0.0')).toEqual({ address: '0.0.0.0', host: 'host-gateway' });
      expect(await relayPlace(engine, 'agents', '203.0.113.7')).toEqual({
        address: '203.0.113.7',
        host: '203.0.113.7',
      });
    });
  });

  test('is a port of those that the operator leaves to it', async () => {
    const free = await freePort();
    const settings = { relay: { host: '0.0.0.0', ports: { first: free, last: free } } };
    const here = await World.open({ settings: { ...settings, policy: { ...testPolicy, networks: ['bridge'] } } });
    try {
      const turn = await here.run({
        image: image.name,
        program: tourist,
        sandbox: { network: 'bridge' },
      });
      const { controllerUrl, sent } = JSON.parse(turn.completed?.output.text ?? '{}') as {
        controllerUrl: string;
        sent: unknown;
      };
      expect(sent).toMatchObject({ status: 200 });
      expect(port(controllerUrl)).toBe(free);
    } finally {
      await here.close();
    }
  });
});
