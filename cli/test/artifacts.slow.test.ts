import { mkdir, readdir, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { runCli } from '@suzumio/cli/program';
import { artifactView } from '@suzumio/contract/model/artifact';
import { findArtifact } from '@suzumio/store/content/artifacts';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { publish, publishDirectory, submit } from '../../services/api/test/support/play.js';
import { type CliWorld, createCliWorld } from './support/cli.js';
import { waysOf } from './support/ways.js';

let api: TestApi;
let world: CliWorld;
let here: string;
beforeEach(async () => {
  api = await testApi();
  await api.create();
  world = await createCliWorld();
  here = join(world.directory, 'here');
  await mkdir(here);
});
afterEach(async () => {
  await api.close();
  await world.remove();
});

const { atServer, withNothingRunning, ways } = waysOf(() => ({ api, world }));
const inHere = (...path: string[]) => join(here, ...path);

describe.each(ways)('report --open, %s', (_way, run) => {
  test('writes the report with the newest of the files that it names, as one page', async () => {
    for (const content of ['old', 'new'])
      await publish(api, 'team', 'ada', { name: 'plot.png', content: Buffer.from(content) });
    await publish(api, 'team', 'ada', { name: 'other.png', content: Buffer.from('other') });
    await publishDirectory(api, 'team', 'site', { 'index.html': 'x' });
    await submit(api, 'team', 'ada', '# Levels\n\n![Plot](plot.png) of the site.\n');
    const file = inHere('report.html');
    const { code, out } = await run('report', 'team', '--open', file, '--json');
    expect([code, JSON.parse(out)]).toEqual([
      0,
      { project: 'team', version: 1, file, files: ['site', 'plot.png'], opened: false },
    ]);
    const html = await readFile(file, 'utf8');
    expect(html).toContain(`<img src="data:image/png;base64,${Buffer.from('new').toString('base64')}" alt="Plot">`);
    expect(html).toMatch(/A directory: suzumio artifacts get team art_/);
    expect(html).not.toContain('other.png');
    expect(await run('report', 'team', '--open', file, '--json')).toMatchObject({
      code: 3,
      err: expect.stringContaining('is there already'),
    });
  });
});

describe.each(ways)('artifacts get, %s', (_way, run) => {
  test('writes the newest of a name, or any by its id, and refuses to write over what is there', async () => {
    const first = await publish(api, 'team', 'ada', { name: 'level.md', content: Buffer.from('3.1 m\n') });
    await publish(api, 'team', 'ada', { name: 'level.md', content: Buffer.from('3.2 m\n') });
    const output = inHere('level.md');
    expect(await run('artifacts', 'get', 'team', 'level.md', '--output', output)).toEqual({
      code: 0,
      out: `Wrote ${output}, 6 B, as it was published.\n`,
      err: '',
    });
    expect(await readFile(output, 'utf8')).toBe('3.2 m\n');

    const again = await run('artifacts', 'get', 'team', first.id, '--output', output);
    expect(again).toMatchObject({ code: 3, out: '', err: expect.stringContaining(`${output} is there already`) });
    expect(await readFile(output, 'utf8')).toBe('3.2 m\n');

    expect(await run('artifacts', 'get', 'team', first.id, '--output', output, '--force')).toMatchObject({ code: 0 });
    expect(await readFile(output, 'utf8')).toBe('3.1 m\n');
    expect(await readdir(here)).toEqual(['level.md']);
  });

  test('says that one was redacted, and writes nothing', async () => {
    const { id } = await publish(api, 'team', 'ada', { name: 'level.md', content: Buffer.from('3.1 m\n') });
    expect(await atServer('artifacts', 'redact', 'team', id, '--yes', '--because', 'It was wrong.')).toMatchObject({
      code: 0,
      out: expect.stringContaining('level.md was redacted by admin'),
    });
    expect(await run('artifacts', 'get', 'team', 'level.md', '--output', inHere('level.md'))).toMatchObject({
      code: 3,
      err: expect.stringContaining('"level.md" has no content any more. This artifact was redacted by admin'),
    });
    expect(await readdir(here)).toEqual([]);
    expect((await run('artifacts', 'team')).out).toContain('redacted by admin');
  });

  test('writes a file to standard output as it is, and nothing else there', async () => {
    const content = Buffer.from([0, 255, 10, 13, 128]);
    await publish(api, 'team', 'ada', { name: 'level.bin', content });
    const { code, out, err } = await run('artifacts', 'get', 'team', 'level.bin', '--output', '-');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(Buffer.from(out, 'latin1')).toEqual(content);
    expect(await readdir(here)).toEqual([]);
    expect(await run('artifacts', 'get', 'team', 'level.bin', '--output', '-', '--json')).toMatchObject({ code: 3 });
    await publishDirectory(api, 'team', 'site', { a: 'b' }, []);
    expect(await run('artifacts', 'get', 'team', 'site', '--output', '-')).toMatchObject({
      code: 3,
      err: expect.stringContaining('site is a directory'),
    });
  });

  test('writes a directory with all that is in it, and never into one that is there', async () => {
    const texts = { 'index.md': '# Level\n', 'bin/run': 'echo 3.2\n', 'deep/er/a': '' };
    await publishDirectory(api, 'team', 'site', texts, ['bin/run']);
    const output = inHere('site');
    const { code, out } = await run('artifacts', 'get', 'team', 'site', '--output', output);
    expect({ code, out }).toEqual({ code: 0, out: `Wrote ${output}, 3 files, 17 B, as it was published.\n` });
    for (const [path, text] of Object.entries(texts)) expect(await readFile(inHere('site', path), 'utf8')).toBe(text);
    expect((await stat(inHere('site', 'bin/run'))).mode & 0o111).not.toBe(0);

    await writeFile(inHere('site', 'index.md'), 'mine');
    for (const force of [[], ['--force']]) {
      const again = await run('artifacts', 'get', 'team', 'site', '--output', output, ...force);
      expect(again).toMatchObject({ code: 3, err: expect.stringContaining('is there already') });
    }
    expect(await readFile(inHere('site', 'index.md'), 'utf8')).toBe('mine');
    expect(await readdir(here)).toEqual(['site']);
  });

  test('leaves nothing where what arrives is not what was published, or nothing arrives', async () => {
    const { id } = await publish(api, 'team', 'ada', { name: 'level.md', content: Buffer.from('3.2 m\n') });
    const stored = await api.write('team', (tx) => findArtifact(tx, { id }));
    const file = join(api.cell.directory.projectDir('team'), stored?.path ?? '');
    await writeFile(file, '9.9 m\n');
    const changed = await run('artifacts', 'get', 'team', id, '--output', inHere('level.md'));
    expect(changed).toMatchObject({ code: 1, out: '', err: expect.stringContaining('not what was stored') });
    await unlink(file);
    expect((await run('artifacts', 'get', 'team', id, '--output', inHere('level.md'))).code).toBe(1);
    expect(await readdir(here)).toEqual([]);
  });

  test('says what is not there, and where nothing can be written', async () => {
    await publish(api, 'team', 'ada', { name: 'level.md', content: Buffer.from('3.2 m\n') });
    expect(await run('artifacts', 'get', 'team', 'none.md')).toMatchObject({
      code: 3,
      err: expect.stringContaining('Nothing is published as "none.md" in team: '),
    });
    const nowhere = inHere('no', 'such', 'directory');
    expect(await run('artifacts', 'get', 'team', 'level.md', '--output', nowhere)).toMatchObject({
      code: 3,
      err: expect.stringContaining(`${nowhere} cannot be written (ENOENT)`),
    });
  });

  test('tells a program what it wrote', async () => {
    const { id } = await publish(api, 'team', 'ada', { name: 'level.md', content: Buffer.from('3.2 m\n') });
    const { out } = await run('artifacts', 'get', 'team', id, '--output', inHere('a'), '--json');
    expect(JSON.parse(out)).toMatchObject({ id, name: 'level.md', output: inHere('a'), kind: 'file' });
  });
});

describe.each(ways)('artifacts archive, %s', (_way, run) => {
  test('writes the newest version of all, or of one, and refuses to write over what is there', async () => {
    await publish(api, 'team', 'ada', { name: 'level.md', content: Buffer.from('3.1 m\n') });
    await publish(api, 'team', 'ada', { name: 'level.md', content: Buffer.from('3.2 m\n') });
    await publish(api, 'team', 'ben', { name: 'notes.md', content: Buffer.from('Of Ben.\n') });
    const output = inHere('all.tar');
    const { code, out } = await run('artifacts', 'archive', 'team', '--output', output);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`Wrote ${output}, `) });
    const archive = await readFile(output, 'latin1');
    expect(archive).toContain('team-artifacts/level.md');
    expect(archive).toContain('3.2 m');
    expect(archive).not.toContain('3.1 m');
    expect(await run('artifacts', 'archive', 'team', '--output', output)).toMatchObject({
      code: 3,
      err: expect.stringContaining(`${output} is there already`),
    });
    const of = await run('artifacts', 'archive', 'team', '--creator', 'ben', '--output', output, '--force', '--json');
    expect(JSON.parse(of.out)).toMatchObject({ project: 'team', creator: 'ben', output });
    expect(await readFile(output, 'latin1')).not.toContain('level.md');
    expect((await run('artifacts', 'archive', 'team', '--creator', 'zoe', '--output', inHere('none'))).code).toBe(3);
    expect(await readdir(here)).toEqual(['all.tar']);
  });
});

describe('artifacts publish', () => {
  test('publishes a file under its own name or another, byte by byte', async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 0x80]);
    await writeFile(inHere('levels.bin'), bytes);
    const { code, out } = await atServer('artifacts', 'publish', 'team', inHere('levels.bin'));
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(
        /^Published levels\.bin as art_\w{26}, 5 B\.\nnext: suzumio .*send team AGENT P1 "…" --attach art_\w{26}\n$/,
      ),
    });
    const named = await atServer(
      ...['artifacts', 'publish', 'team', inHere('levels.bin')],
      ...['--name', 'north & south.bin', '--description', 'As measured.', '--json'],
    );
    const artifact = artifactView.parse(JSON.parse(named.out));
    expect(artifact).toMatchObject({ name: 'north & south.bin', description: 'As measured.', creator: 'user' });
    await atServer('artifacts', 'get', 'team', 'north & south.bin', '--output', inHere('back'));
    expect(await readFile(inHere('back'))).toEqual(bytes);
  });

  test('refuses what is no file, and needs a server', async () => {
    expect(await atServer('artifacts', 'publish', 'team', here)).toMatchObject({
      code: 3,
      err: expect.stringContaining('is not a file; a person publishes single files'),
    });
    expect((await atServer('artifacts', 'publish', 'team', inHere('none'))).err).toContain('ENOENT');
    await writeFile(inHere('a'), 'a');
    expect((await withNothingRunning('artifacts', 'publish', 'team', inHere('a'))).code).toBe(4);
    await rm(inHere('a'));
  });
});

test('artifacts lists what is a directory as one', async () => {
  await publish(api, 'team', 'ada', { name: 'level.md', content: Buffer.from('3.2 m\n') });
  await publishDirectory(api, 'team', 'site', { a: 'a', b: 'b' });
  const { out } = await atServer('artifacts', 'team');
  expect(out).toMatch(
    /^TIME +NAME +KIND +BY +SIZE +SHA256 +DESCRIPTION\n.*level\.md +file +ada .*\n.*site +directory, 2 files +ada/,
  );
});

test('send attaches artifacts by name or id, which the timeline counts', async () => {
  const { id } = await publish(api, 'team', 'ada', { name: 'level.md', content: Buffer.from('3.2 m\n') });
  await publishDirectory(api, 'team', 'site', { a: 'a' });
  const send = (...attach: string[]) => atServer('send', 'team', 'ben', 'P1', 'These,', 'please.', ...attach);
  expect((await send('--attach', id, '--attach', 'site')).code).toBe(0);
  const [message] = JSON.parse((await atServer('messages', 'team', '--limit', '1', '--json')).out) as unknown[];
  expect(message).toMatchObject({ body: 'These, please.', attachments: [{ id, name: 'level.md' }, { name: 'site' }] });
  expect(await send('--attach', 'none')).toMatchObject({ code: 3, err: expect.stringContaining('"none"') });
});

test('what is written to a slow reader is read no faster than that takes it', async () => {
  const content = Buffer.alloc(3_000_000, 'level ');
  await publish(api, 'team', 'ada', { name: 'level.bin', content });
  let written = 0;
  let most = 0;
  let waiting = 0;
  const nothing = { write: () => undefined, drained: () => Promise.resolve(), colors: false, columns: undefined };
  const code = await runCli(
    ['--root', api.cell.directory.root, 'artifacts', 'get', 'team', 'level.bin', '--output', '-'],
    {
      env: {},
      homeDir: here,
      out: {
        ...nothing,
        isTerminal: false,
        write: (bytes) => {
          written += bytes.length;
          waiting += bytes.length;
          most = Math.max(most, waiting);
        },
        drained: async () => {
          await setImmediate();
          waiting = 0;
        },
      },
      err: { ...nothing, isTerminal: false },
      self: 'suzumio',
      interrupted: new AbortController().signal,
      ask: undefined,
      now: Date.now,
      timeZone: 'UTC',
    },
  );
  expect([code, written]).toEqual([0, content.length]);
  expect(most).toBeLessThan(content.length / 2);
});
