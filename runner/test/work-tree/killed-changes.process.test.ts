import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { seed } from '../../../test/support/fast-check.js';
import { seeded } from '../../../test/support/seeded.js';
import { change, Own } from './support.js';

let directory: string;
let program: string;
let own: Own;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'suzumio-killed-'));
  program = join(directory, 'change.mjs');
  await build({
    stdin: {
      contents: `
        import process from 'node:process';
        import { change } from './support.js';
        const [path, theirs, after] = process.argv.slice(2);
        let steps = 0;
        const refused = (error) => void (process.exitCode = error.name === 'WorkTreeError' ? 3 : 1);
        await change(path, theirs, () => {
          steps += 1;
          if (steps > Number(after)) process.kill(process.pid, 'SIGKILL');
        }).catch(refused);`,
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['suzumio-source'],
    outfile: program,
    logLevel: 'error',
  });
});
afterAll(() => rmSync(directory, { recursive: true }));
beforeEach(() => {
  own = new Own();
});
afterEach(() => own.remove());

/** Changes a person's files in a process that ends itself before a step. @returns whether it came to its end, or was refused */
async function killedBefore(step: number, path: string, theirs: string): Promise<boolean> {
  const child = spawn(process.execPath, [program, path, theirs, String(step)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect([code === 3 ? 0 : code, signal]).toEqual(signal === null ? [0, null] : [null, 'SIGKILL']);
  return signal === null;
}

const at = (name: string) => join(own.path, name);
const read = (name: string) => readFileSync(at(name), 'utf8');
const visible = () =>
  Object.fromEntries(
    own
      .git('ls-files', '--cached', '--others', '-z')
      .split('\0')
      .filter((name) => name !== '' && existsSync(at(name)))
      .map((name) => [name, read(name)]),
  );

describe('killed before each step', () => {
  test('the next run undoes it and does it again; what was written between stays', async () => {
    own.repository.commit({ 'a.txt': 'a\n', 'docs/d.txt': 'd\n', 'gone.txt': 'gone\n' }, 'First');
    const theirs = own.theirs({ 'docs/d.txt': 'theirs\n', 'new/n.txt': 'new\n', 'gone.txt': null });
    const asItWas = join(own.directory, 'as-it-was');
    cpSync(own.path, asItWas, { recursive: true });
    let step = 0;
    for (let isDone = false; !isDone; step += 1) {
      for (const isEdited of [false, true]) {
        rmSync(own.path, { recursive: true });
        cpSync(asItWas, own.path, { recursive: true, preserveTimestamps: true });
        isDone = await killedBefore(step, own.path, theirs);
        if (isDone) break;
        if (isEdited) writeFileSync(at('docs/d.txt'), 'mine\n', { flag: existsSync(at('docs')) ? 'w' : 'wx' });
        const { undone, conflicts } = await change(own.path, theirs);
        expect({ step, undone }).toEqual({ step, undone: step === 0 ? 0 : 1 });
        if (isEdited) {
          expect({ step, conflicts, text: read('docs/d.txt') }).toEqual({
            step,
            conflicts: ['docs/d.txt'],
            text: 'mine\n',
          });
          expect(read('gone.txt')).toBe('gone\n');
        } else {
          expect({ step, files: visible() }).toEqual({
            step,
            files: { 'a.txt': 'a\n', 'docs/d.txt': 'theirs\n', 'new/n.txt': 'new\n' },
          });
        }
      }
    }
    expect(step).toBeGreaterThan(8);
  });
});

describe('whatever is in the repository, whoever writes beside, whenever it is killed', () => {
  const cases = Number(process.env['FUZZ_CASES'] ?? 8);
  test.each(Array.from({ length: cases }, (_, index) => seed + index))(
    'no text of the person is lost (%d)',
    async (number) => {
      const random = seeded(number);
      const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
      const names = ['a.txt', 'b.txt', 'docs/c.txt', 'docs/deep/d.txt', 'e.txt', 'src/f.txt'];
      const body = (what: string) => Array.from({ length: 12 }, (_, line) => `${what} ${line}\n`).join('');
      own.repository.commit(Object.fromEntries(names.map((name) => [name, body(name)])), 'First');
      own.repository.write({ '.git/info/exclude': '*.ignored\n' });
      const theirs: Record<string, string | null> = {};
      for (const name of names) {
        if (random() < 0.6)
          theirs[name] = random() < 0.15 ? pick([null, 'anew\n']) : body(name).replace(' 2\n', ' two\n');
      }
      theirs['new/x.txt'] = 'x\n';
      if (random() < 0.1) theirs['y.ignored'] = 'y\n';
      const tree = own.theirs(theirs);

      let written = 0;
      /** The newest text of the person's at each path. */
      const texts = new Map<string, string>();
      const save = () => {
        const name = pick([...names, 'new/x.txt', 'y.ignored', 'own.txt']);
        const mark = `person ${number} ${(written += 1)}\n`;
        const path = at(name);
        try {
          const kind = random();
          if (kind < 0.45 && existsSync(path)) appendFileSync(path, mark);
          else if (kind < 0.92) {
            mkdirSync(join(path, '..'), { recursive: true });
            writeFileSync(`${path}~`, `${existsSync(path) ? read(name) : ''}${mark}`);
            renameSync(`${path}~`, path);
          } else if (kind < 0.96) {
            texts.delete(name);
            rmSync(path, { force: true });
            return;
          } else {
            texts.delete(name);
            rmSync(path, { force: true });
            symlinkSync('own.txt', path);
            return;
          }
          texts.set(name, `${texts.get(name) ?? ''}${mark}`);
        } catch (error) {
          // What was there for the person a moment ago is not.
          if (!['ENOENT', 'ENOTDIR', 'EEXIST', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? ''))
            throw error;
        }
      };
      const isKept = () => {
        const all = own.texts();
        for (const text of texts.values()) for (const mark of text.split(/(?<=\n)/)) expect(all).toContain(mark);
      };
      for (let count = 0; count < 4; count += 1) save();
      for (const name of names) {
        if (random() < 0.3) own.git('update-index', pick(['--assume-unchanged', '--skip-worktree']), name);
      }
      if (random() < 0.5) {
        await killedBefore(Math.floor(random() * 14), own.path, tree);
        isKept();
        if (random() < 0.5) save();
      }
      for (let run = 0; run < 2; run += 1) {
        const before = visible();
        let disturbances = 0;
        const outcome = await change(own.path, tree, () => {
          if (run > 0 || random() > 0.25) return;
          disturbances += 1;
          save();
        }).catch((error: unknown) => error as Error);
        isKept();
        if (disturbances > 0 || !(outcome instanceof Error)) continue;
        expect(outcome.message).toMatch(/^Nothing was changed: /);
        if (!outcome.message.includes('broke off')) expect(visible()).toEqual(before);
      }
      const left = existsSync(at('.git/suzumio')) ? readdirSync(at('.git/suzumio')) : [];
      expect(left.filter((name) => name !== 'replaced')).toEqual([]);
    },
  );
});
