// Starts: cli.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type ConnectProxy, startConnectProxy } from '../../test/support/connect-proxy.js';
import { type CliWorld, createCliWorld } from './support/cli.js';

const main = fileURLToPath(new URL('../bin/suzumio.js', import.meta.url));

let proxy: ConnectProxy;
let world: CliWorld;
beforeAll(async () => {
  proxy = await startConnectProxy(() => 9);
});
afterAll(() => proxy.close());
beforeEach(async () => {
  world = await createCliWorld();
});
afterEach(() => world.remove());

test("Node's own use of proxies is no way to this machine: a server starts, and its commands find it", async () => {
  const at = `http://${proxy.host}`;
  const env = {
    PATH: process.env.PATH,
    HTTP_PROXY: at,
    HTTPS_PROXY: at,
    NODE_USE_ENV_PROXY: '1',
    SUZUMIO_ROOT: world.root,
  };
  const server = spawn(process.execPath, [main, 'serve', '--port', '0'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    let said = '';
    server.stderr.on('data', (bytes: Buffer) => (said += bytes.toString()));
    for await (const bytes of server.stdout) {
      said += String(bytes);
      if (said.includes('listens on')) break;
    }
    expect(said).toContain('listens on http://127.0.0.1:');
    const status = spawn(process.execPath, [main, 'status', '--json'], { env });
    let out = '';
    status.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()));
    status.stderr.on('data', (bytes: Buffer) => (out += bytes.toString()));
    const [code] = (await once(status, 'close')) as [number];
    expect({ code, out }).toMatchObject({ code: 0 });
    expect(proxy.asked).toEqual([]);
  } finally {
    server.kill('SIGTERM');
    if (server.exitCode === null) await once(server, 'close');
  }
});
