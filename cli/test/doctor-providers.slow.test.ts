import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { checkProviders } from '@suzumio/cli/doctor/check-providers';
import { checkProxy } from '@suzumio/cli/doctor/check-proxy';
import { createSession } from '@suzumio/cli/session';
import { Cell } from '@suzumio/store/cell/cell';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { startProject } from '@suzumio/store/projects/project-transitions';
import { startConnectProxy } from '../../test/support/connect-proxy.js';
import { freePort } from '../../test/support/free-port.js';
import { type CliWorld, createCliWorld } from './support/cli.js';

let world: CliWorld;
beforeEach(async () => {
  world = await createCliWorld();
});
afterEach(() => world.remove());

const quiet = {
  write: () => undefined,
  drained: () => Promise.resolve(),
  isTerminal: false,
  colors: false,
  columns: undefined,
};

async function checked(policy: string, env: Record<string, string> = {}, serving = false) {
  const file = await world.write('policy.yaml', policy);
  const context = {
    env: { ...env, SUZUMIO_POLICY_FILE: file },
    homeDir: world.directory,
    out: quiet,
    err: quiet,
    self: 'suzumio',
    interrupted: new AbortController().signal,
    ask: undefined,
    now: Date.now,
    timeZone: 'UTC',
  };
  return checkProviders(createSession(context, { root: world.root }), serving);
}

test('each provider is asked with its key, and told what is wrong with it', async () => {
  const server = createHttpServer((request, response) => {
    const status = request.headers.authorization === 'Bearer right' ? 200 : 401;
    response.writeHead(request.url === '/v1/models' ? status : 404).end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const findings = await checked(
    `providers:
  - { baseURL: '${origin}/v1', apiKeyEnv: RIGHT }
  - { baseURL: '${origin}/v1', apiKeyEnv: WRONG }
  - { baseURL: '${origin}', apiKeyEnv: RIGHT }
  - { baseURL: '${origin}/v1', apiKeyEnv: MISSING }
  - { baseURL: 'http://127.0.0.1:${await freePort()}/v1' }
`,
    { RIGHT: 'right', WRONG: 'wrong' },
  );
  server.close();
  expect(findings.map(({ state, remedy }) => [state, remedy])).toEqual([
    ['ok', undefined],
    ['broken', 'correct the key in WRONG'],
    ['broken', 'its baseURL may have to end with /v1'],
    ['broken', 'set MISSING where serve or up is started'],
    ['broken', 'correct its baseURL, or start it'],
  ]);
  expect(findings[4]?.detail).toContain('nobody listens there (ECONNREFUSED)');
});

test('a password in an address is used, and never shown', async () => {
  const server = createHttpServer((request, response) => {
    const basic = Buffer.from('desk:hunter 2').toString('base64');
    response.writeHead(request.headers.authorization === `Basic ${basic}` ? 200 : 401).end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const at = (credentials: string, port = (server.address() as AddressInfo).port) =>
    `http://${credentials}@127.0.0.1:${port}/v1`;
  const findings = await checked(
    `providers:
  - { baseURL: '${at('desk:hunter%202')}' }
  - { baseURLEnv: FROM_ENV }
  - { baseURL: '${at('desk:hunter3')}' }
  - { baseURL: '${at('desk:hunter4', await freePort())}' }
`,
    { FROM_ENV: at('desk:hunter%202') },
  );
  server.close();
  expect(findings.map(({ state, remedy }) => [state, remedy])).toEqual([
    ['ok', undefined],
    ['ok', undefined],
    ['broken', 'correct the name and the password in its address'],
    ['broken', 'correct its baseURL, or start it'],
  ]);
  expect(findings[0]?.detail).toContain('http://***@127.0.0.1:');
  expect(JSON.stringify(findings)).not.toContain('hunter');
});

test('one that lists no models for a key may answer its questions all the same', async () => {
  const server = createHttpServer((_request, response) => response.writeHead(403).end('{}'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const [finding] = await checked(`providers: [{ baseURL: 'http://127.0.0.1:${port}/v1', apiKeyEnv: KEY }]`, {
    KEY: 'a',
  });
  server.close();
  expect(finding).toMatchObject({ state: 'skipped', detail: expect.stringContaining('403') });
  expect(finding?.detail).toMatch(/the key in KEY may not list models/);
});

test('what a server has in its own variables is not known', async () => {
  const [finding] = await checked(`providers: [{ baseURL: 'http://127.0.0.1:9/v1', apiKeyEnv: MISSING }]`, {}, true);
  expect(finding).toMatchObject({ state: 'skipped', detail: expect.stringContaining('MISSING is not set here') });
});

test('one that says nothing is not waited for long', async () => {
  // What it is sent has to be read, or the connection is never seen to end.
  const silent = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.resume();
  });
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const { port } = silent.address() as AddressInfo;
  const [finding] = await checked(`providers: [{ baseURL: 'http://127.0.0.1:${port}/v1' }]`);
  silent.close();
  expect(finding).toMatchObject({ state: 'broken', detail: expect.stringContaining('did not answer within 4 s') });
});

test('those that running projects use are asked, as far as they are allowed', async () => {
  const cell = Cell.open(world.root, {});
  const file = (name: string, port: number) => `
name: ${name}
task: Think.
backend:
  runner:
    mode: ai
    model: main
    models:
      providers: { desk: { type: openai-compatible, baseURL: 'http://127.0.0.1:${port}/v1' } }
      presets: { main: { provider: desk, model: small } }
agents: { ada: { role: thinker, prompt: Think. } }
`;
  for (const [name, port] of [
    ['granted', 9],
    ['stranger', 10],
  ] as const) {
    const { config, sourceText } = loadProjectText(file(name, port), 'file');
    await cell.createProject({
      config,
      source: sourceText,
      actor: 'test',
      begin: (tx) => {
        startProject(tx, 'test');
      },
      ...(name === 'granted'
        ? {
            grant: {
              directories: [],
              readonly: [],
              images: [],
              git: [],
              toolpacks: [],
              providers: [{ baseURL: 'http://127.0.0.1:9/v1' }],
            },
          }
        : {}),
    });
  }
  await cell.close();
  const findings = await checked('networks: [none]\n');
  expect(findings.map(({ detail }) => detail)).toEqual([expect.stringContaining('http://127.0.0.1:9/v1')]);
});

test('a provider is asked through the proxy that the ToolHost would use; what is set is shown without its credentials', async () => {
  const proxy = await startConnectProxy(() => 9);
  try {
    const env = { HTTPS_PROXY: `http://desk:hunter-2-hunter@${proxy.host}`, NO_PROXY: '.example.com' };
    proxy.refuse = 407;
    const [finding] = await checked(`providers: [{ baseURL: 'https://models.example/v1' }]`, env);
    expect(finding?.detail).toContain(`the proxy at ${proxy.host} (HTTPS_PROXY) refuses the name and the password`);
    expect(proxy.asked).toEqual(['CONNECT models.example:443']);
    const shown = checkProxy(env);
    expect(shown).toEqual({
      what: 'proxy',
      state: 'ok',
      detail: `http:// directly, https:// through ${proxy.host} with a name and a password (HTTPS_PROXY); not for .example.com (NO_PROXY)`,
    });
    expect(JSON.stringify([finding, shown])).not.toContain('hunter');
    expect(checkProxy({}).state).toBe('skipped');
    expect(checkProxy({ ALL_PROXY: 'socks5://p:1' })).toMatchObject({
      state: 'broken',
      detail: expect.stringContaining('ALL_PROXY begins with socks5://') as unknown,
    });
  } finally {
    await proxy.close();
  }
});
