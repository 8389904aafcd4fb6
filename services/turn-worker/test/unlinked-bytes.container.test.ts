import { afterEach, expect, test } from '@jest/globals';
import type { Container } from 'dockerode';
import { engineAddress } from '../src/engine/docker/engine-address.js';
import { engineClient } from '../src/engine/docker/engine-client.js';
import { unlinkedBytes } from '../src/engine/docker/unlinked-bytes.js';
import { until } from './support/until.js';

const image = 'suzumio-runner:dev';
const docker = engineClient(engineAddress(process.env));
let container: Container | undefined;
afterEach(() => container?.remove({ force: true }));

/** What a program of a turn holds in files without a name, as it is counted. */
async function counted(program: string): Promise<number> {
  container = await docker.createContainer({
    Image: image,
    User: '0:0',
    Labels: { 'suzumio.test': 'unlinked-bytes' },
    Entrypoint: ['python3', '-uc', `import os, threading, time\n${program}\nprint("held")\ntime.sleep(3600)`],
    HostConfig: {
      NetworkMode: 'none',
      Tmpfs: { '/workspace': 'mode=1777' },
      Ulimits: [{ Name: 'nofile', Soft: 20_000, Hard: 20_000 }],
    },
  });
  const { id } = container;
  await container.start();
  const said = async () => (await docker.getContainer(id).logs({ stdout: true, stderr: true })).toString();
  await until(async () => (await said()).includes('held'), 'the program holds its files');
  return unlinkedBytes({ docker, image, worker: 'test', container: id });
}

const hold = `
file = os.open("/workspace/f", os.O_CREAT | os.O_RDWR)
os.unlink("/workspace/f")
os.write(file, b"x" * 5 * 1024 * 1024)`;

test('an open file without a name is counted once, however often and by whichever threads it is open', async () => {
  expect(
    await counted(`${hold}
for n in range(10): os.dup(file)
for n in range(3): threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()`),
  ).toBe(5 * 1024 * 1024);
});

test('what has more open files than are looked at may hold anything', async () => {
  expect(
    await counted(`${hold}
other = os.open("/tmp/o", os.O_CREAT | os.O_RDWR)
for n in range(19_000): os.dup(other)
for n in range(60): threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()`),
  ).toBe(Infinity);
});
