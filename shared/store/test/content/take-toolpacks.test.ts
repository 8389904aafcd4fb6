import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { localToolpacks } from '@suzumio/core/config/local-toolpacks';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { filesOfToolpack } from '@suzumio/protocol/toolpacks/files';
import type { NewProject } from '@suzumio/store/cell/create-project';
import { ContentStore } from '@suzumio/store/content/content-store';
import { collectContent } from '@suzumio/store/content/collect-content';
import { type TestCell, testCell } from '../../../../test/support/cell.js';

let testing: TestCell;
let pack: string;
beforeEach(async () => {
  testing = await testCell();
  pack = await realpath(await mkdtemp(join(tmpdir(), 'suzumio-pack-')));
  await write('suzumio.toolpack.json', JSON.stringify({ id: 'own', tools: [{ name: 'own.say' }] }));
  await write('runner.mjs', 'export {};\n');
  await write('lib/words.mjs', 'export const word = 1;\n');
  await write('.git/config', 'secret');
});
afterEach(async () => {
  await testing.close();
  await rm(pack, { recursive: true, force: true });
});

async function write(name: string, text: string | Buffer): Promise<void> {
  await mkdir(dirname(join(pack, name)), { recursive: true });
  await writeFile(join(pack, name), text);
}

const yaml = (path: string, tools = '[own.say]') => `
name: lab
task: Say it.
backend: { runner: { mode: mock } }
agents: { dev: { tools: ${tools} } }
tools: { toolpacks: [{ id: own, path: ${path} }] }
`;

const make = (
  text = yaml(pack),
  allowed: Pick<NewProject, 'mayLoad'> = { mayLoad: (directory) => directory === pack },
) =>
  testing.cell.createProject({ config: loadProjectText(text, 'file').config, source: text, actor: 'ann', ...allowed });

test('the files of a toolpack are its project’s own from then on, and are kept', async () => {
  await make();
  await rm(pack, { recursive: true });
  await testing.restart();
  const [taken] = await testing.store('lab', ({ config }) => localToolpacks(config));
  expect(taken).toMatchObject({ id: 'own', directory: pack, runner: 'runner.mjs', tools: [{ name: 'own.say' }] });
  expect(taken?.controller).toBeUndefined();
  const directory = testing.cell.directory.projectDir('lab');
  const content = new ContentStore(directory);
  const read = async () => filesOfToolpack(await content.readStart(taken?.sha256 ?? '', 1e7));
  expect([...(await read()).keys()]).toEqual(['lib/words.mjs', 'runner.mjs', 'suzumio.toolpack.json']);
  const inAMonth = Date.now() + 30 * 86_400_000;
  await testing.store('lab', (store) => collectContent(store, directory, inAMonth));
  expect((await read()).size).toBe(3);
});

test('nothing is loaded that may not be, nor from where a link leads by now', async () => {
  await expect(make(yaml(pack), {})).rejects.toMatchObject({ code: 'policy-denied' });
  const link = `${pack}-link`;
  await symlink('/etc', link);
  await expect(make(yaml(link))).rejects.toMatchObject({ code: 'policy-denied' });
  await rm(link);
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  ['is gone', () => rm(pack, { recursive: true }), /is no directory: name one that is there/],
  [
    'has a link',
    () => symlink('/etc/passwd', join(pack, 'lib/key')),
    /has lib\/key, which is a link: put a copy of what it leads to in its place\.$/,
  ],
  [
    'has a socket',
    async () => {
      const server = createServer().listen(join(pack, 'socket'));
      await once(server, 'listening');
      server.unref();
    },
    /has socket, which is neither a file nor a directory: take it away\.$/,
  ],
  ['has a name of two lines', () => write('a\nb', ''), /has "a\\nb": expected paths of at most 400 characters, no/],
  [
    'is too deep',
    () => mkdir(join(pack, 'd/'.repeat(300)), { recursive: true }),
    /has "d\/[d/]{78}": expected paths of at most 400/,
  ],
  ['is too large', () => write('big.mjs', Buffer.alloc(3 * 1024 ** 2)), /is too large: a toolpack may have 200 files/],
  [
    'has too many files',
    async () => {
      for (let i = 0; i < 201; i += 1) await write(`many/${String(i)}`, '');
    },
    /is too large/,
  ],
  ['has lost its manifest', () => rm(join(pack, 'suzumio.toolpack.json')), /has no suzumio\.toolpack\.json/],
  ['has lost its module', () => rm(join(pack, 'runner.mjs')), /there is no module runner\.mjs/],
  ['has another id by now', () => write('suzumio.toolpack.json', '{"id":"other","tools":[]}'), /calls itself other/],
  [
    'has not the tool that an agent may use',
    () => write('suzumio.toolpack.json', '{"id":"own","tools":[{"name":"own.sing"}]}'),
    /agents\.dev\.tools: there is no tool own\.say; .* own\.sing/,
  ],
])('a toolpack that %s is refused, and nothing is made', async (_what, change, message) => {
  await change();
  await expect(make()).rejects.toMatchObject({ code: 'invalid-config', message: expect.stringMatching(message) });
  expect(testing.cell.catalog.projects.all()).toEqual([]);
});
