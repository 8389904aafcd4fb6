import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { docker } from './support/images.js';

const dev = 'suzumio-runner:dev';
const science = 'suzumio-runner:science';
const toolsPage = join(import.meta.dirname, '../docs/tools.md');
const ofOurOwn = 'suzumio-test-tides:dev';
let docs: string;
let directory: string;
beforeAll(async () => {
  docs = await readFile(toolsPage, 'utf8');
  directory = await mkdtemp(join(tmpdir(), 'suzumio-image-'));
  // The image's user reads what is mounted.
  await chmod(directory, 0o755);
});
afterAll(async () => {
  await docker('image', 'rm', '--force', ofOurOwn);
  await rm(directory, { recursive: true, force: true });
});

/** Runs a script as an agent's command would be, and returns what it prints. */
function inImage(image: string, script: string, ...options: string[]): Promise<string> {
  const asTurn = [
    '--network',
    'none',
    '--read-only',
    '--user',
    '1000:1000',
    '--tmpfs',
    '/home:exec,mode=1777',
    '--tmpfs',
    '/tmp',
  ];
  const home = ['--env', 'HOME=/home'];
  return docker('run', '--rm', ...asTurn, ...home, ...options, '--entrypoint', 'bash', image, '-ec', script);
}

const namesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

/** The docs' table is made from the images: `SUZUMIO_UPDATE_GOLDEN=1` writes it. */
test('the images hold what the docs say, and no more of it', async () => {
  const table = /^\| In the image[^]*?\n\n/m.exec(docs)?.[0] ?? '';
  const [head = '', rule = '', ...rows] = table.trim().split('\n');
  const names = rows.map((row) => namesIn(row.split('|')[1]));
  const images = head.split('|').slice(2, -1).flatMap(namesIn);
  expect([names.length > 4, images]).toEqual([true, [dev, science]]);
  const held = await Promise.all(images.map((image) => heldBy(image, names)));
  const made = rows.map((row, index) => {
    const cells = row.split('|');
    for (const [at, holds] of held.entries())
      cells[at + 2] = ` ${wordFor(holds[index] ?? [])} `.padEnd(cells[at + 2]?.length ?? 0);
    return cells.join('|');
  });
  const written = `${[head, rule, ...made].join('\n')}\n\n`;
  if (process.env['SUZUMIO_UPDATE_GOLDEN'] === '1') await writeFile(toolsPage, docs.replace(table, written));
  else expect(table).toBe(written);
});

/** Of each name of each row, whether an image has it. */
async function heldBy(image: string, names: readonly string[][]): Promise<[name: string, isThere: boolean][][]> {
  const look = (name: string) =>
    name.startsWith('import ') ? `python3 -c '${name}' 2> /dev/null` : `command -v ${name} > /dev/null`;
  const script = names.flat().map((name) => `if ${look(name)}; then echo yes; else echo no; fi`);
  const printed = (await inImage(image, script.join('\n'))).split('\n');
  return names.map((row) => row.map((name) => [name, printed.shift() === 'yes']));
}

/** A row is for what is in the same images. */
function wordFor(row: readonly [name: string, isThere: boolean][]): string {
  const there = row.filter(([, isThere]) => isThere).map(([name]) => name);
  if (there.length === row.length) return 'yes';
  return there.length === 0 ? 'no' : `only ${there.join(', ')}`;
}

/** A package of Python, and one of npm, as files. */
const sources = {
  'py/pyproject.toml': '[project]\nname = "yours-tides"\nversion = "1.0"\n',
  'py/yours_tides.py': 'def level(): return "3.2 m from Python"\n',
  'js/package.json': '{"name": "@yours/tides", "version": "1.0.0", "main": "index.js"}',
  'js/index.js': 'exports.level = () => "3.2 m from npm";\n',
  Makefile: 'level:\n\t@echo 3.2 m from make\n',
};

test('an agent builds and installs what is in its workspace, without a network', async () => {
  const mount = await written('sources', sources);
  const printed = await inImage(
    dev,
    `cp -r /sources /home/workspace; cd /home/workspace
    make level
    npm install --silent --offline ./js > /dev/null; node -p 'require("@yours/tides").level()'
    pip install --quiet --no-index --no-build-isolation ./py; cd /; python -c 'import yours_tides; print(yours_tides.level())'`,
    ...['--volume', `${mount}:/sources:ro`],
  );
  expect(printed.split('\n')).toEqual(['3.2 m from make', '3.2 m from npm', '3.2 m from Python']);
});

test('an image of one’s own is built as the docs say, and has the packages', async () => {
  const mount = await written('sources', sources);
  const context = await written('context', {
    Dockerfile: /```dockerfile\n([^]*?)```/.exec(docs)?.[1] ?? '',
    'packages/node_modules/@yours/tides/package.json': sources['js/package.json'],
    'packages/node_modules/@yours/tides/index.js': sources['js/index.js'],
  });
  await mkdir(join(context, 'packages/wheels'), { mode: 0o777 });
  const wheel =
    'cp -r /sources/py /home/py; pip wheel --quiet --no-index --no-build-isolation --no-deps -w /home/w /home/py; base64 /home/w/*.whl';
  const built = await inImage(dev, wheel, '--volume', `${mount}:/sources:ro`);
  await writeFile(join(context, 'packages/wheels/yours_tides-1.0-py3-none-any.whl'), Buffer.from(built, 'base64'));
  await docker('build', '--quiet', '--tag', ofOurOwn, context);
  const script = `cd /workspace
    node -p 'require("@yours/tides").level()'
    node --input-type=module -e 'import tides from "@yours/tides"; console.log(tides.level())'
    python -c 'import yours_tides; print(yours_tides.level())'`;
  const levels = (await inImage(ofOurOwn, script)).split('\n');
  expect(levels).toEqual(['3.2 m from npm', '3.2 m from npm', '3.2 m from Python']);
});

async function written(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const root = join(directory, name);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}
