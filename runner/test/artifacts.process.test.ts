import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { directoryManifest, type DirectoryManifest, maxDirectoryEntries } from '@suzumio/protocol/artifacts';
import { freePort } from '../../test/support/free-port.js';
import { files } from './support/bundle.js';
import { createToolHost, type FakeToolHost, type ToolAnswer } from './support/tool-host.js';
import { closed, createTurnPlace, type Ended, ended, listen, script, turn, type TurnPlace } from './support/turn.js';

let place: TurnPlace;
let host: FakeToolHost;
let answer: (request: Record<string, unknown>) => ToolAnswer;

beforeEach(async () => {
  place = await createTurnPlace();
  answer = ({ tool }) => ({ output: `did ${String(tool)}` });
  host = createToolHost((request) => answer(request));
  await listen(host.server, place.socket);
});
afterEach(async () => {
  await closed(host.server);
  await place.remove();
});

const inWorkspace = (...path: string[]) => join(place.workspace, ...path);
const sha256Of = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

/** What a call came to: its answer, or `code: detail`. */
interface Called {
  output?: unknown;
  problem?: string;
}

/** Makes one call from our own runner. */
async function fromRunner(tool: string, input: unknown): Promise<Called> {
  await place.prepare(script({ tool, input }, { text: '{{steps.0.output}}' }));
  const { code, stderr } = await ended(place.start(files.runner));
  if (code === 0) return { output: ((await place.output()) as { text: string }).text };
  return { problem: stderr.replace(/^.*?was refused: /s, '').trim() };
}

/** Makes one call from somebody else's runner, behind the shim. */
async function fromForeign(tool: string, input: unknown): Promise<Called> {
  const controllerUrl = `http://127.0.0.1:${await freePort()}`;
  await place.prepare({ controllerUrl });
  const call = { project: 'newsroom', agent: 'reporter-1', turn: turn.id, tool, input };
  const program = `const response = await fetch('${controllerUrl}/tool', {
    method: 'POST', headers: { authorization: 'Bearer tool-token' }, body: ${JSON.stringify(JSON.stringify(call))},
  });
  console.log(await response.text());`;
  const child = place.start(files.shim, process.execPath, '--input-type=module', '-e', program);
  const { stderr }: Ended = await ended(child);
  const { output, code, detail } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as Record<string, string>;
  return code === undefined ? { output } : { problem: `${code}: ${detail ?? ''}` };
}

const runners = { 'our own runner': fromRunner, 'a foreign runner behind the shim': fromForeign };

function published(): { input: Record<string, unknown>; manifest: DirectoryManifest } {
  const input = host.calls()[0]?.['input'] as Record<string, unknown>;
  const list = host.content.get(String(input['sha256']));
  return { input, manifest: directoryManifest.parse(JSON.parse(list?.toString() ?? 'null')) };
}

describe.each(Object.entries(runners))('publishing a text, by %s', (_name, call) => {
  test('uploads nothing, and leaves the call as it is, also where that names a file as well', async () => {
    await writeFile(inWorkspace('levels.md'), '3.2 m');
    const input = { name: 'levels.md', content: '3.4 m' };
    expect(await call('artifacts.publish', input)).toEqual({ output: 'did artifacts.publish' });
    await call('artifacts.publish', { ...input, path: 'levels.md' });
    expect(host.calls().map((made) => made['input'])).toEqual([input, { ...input, path: 'levels.md' }]);
    expect(host.content.size).toBe(0);
  });
});

describe.each(Object.entries(runners))('an input as a model writes it, by %s', (_name, call) => {
  test('is sent as it is, and has its file uploaded and its artifact written', async () => {
    await writeFile(inWorkspace('levels.md'), '3.2 m');
    const publish = { input: { path: 'levels.md', content: null } };
    await call('artifacts.publish', publish);
    const facts = { sha256: sha256Of('3.2 m'), sizeBytes: 5 };
    expect(host.calls().map(({ input }) => input)).toEqual([{ ...publish, ...facts }]);
    answer = () => ({ output: '', metadata: { id: 'artifact_1', name: 'levels.md', kind: 'file', ...facts } });
    await call('artifacts.read', { arguments: { name: 'levels.md', to: 'copy.md' } });
    expect(await readFile(inWorkspace('copy.md'), 'utf8')).toBe('3.2 m');
  });
});

describe.each(Object.entries(runners))('publishing a directory, by %s', (_name, call) => {
  test('uploads each file once, and then the list of them, in order', async () => {
    await mkdir(inWorkspace('site', 'img', 'empty'), { recursive: true });
    await writeFile(inWorkspace('site', 'index.html'), '<p>3.2 m</p>');
    await writeFile(inWorkspace('site', 'img', 'a'), 'same');
    await writeFile(inWorkspace('site', 'img-b'), 'same');
    await chmod(inWorkspace('site', 'img-b'), 0o755);
    expect(await call('artifacts.publish', { path: 'site/' })).toEqual({ output: 'did artifacts.publish' });
    const file = (path: string, text: string, executable = false) => {
      const sizeBytes = text.length;
      return { kind: 'file', path, sha256: sha256Of(text), sizeBytes, executable };
    };
    const { input, manifest } = published();
    expect(manifest.entries).toEqual([
      { kind: 'directory', path: 'img' },
      file('img-b', 'same', true),
      file('img/a', 'same'),
      { kind: 'directory', path: 'img/empty' },
      file('index.html', '<p>3.2 m</p>'),
    ]);
    expect(input).toEqual({ path: 'site/', sizeBytes: 20, kind: 'directory', sha256: expect.any(String) });
    expect(host.received.filter(({ method }) => method === 'PUT')).toHaveLength(3);
    expect(host.content.get(sha256Of('same'))?.toString()).toBe('same');
  });

  const obstacles: [string, string, () => void][] = [
    ['a link to a file outside', '"a/x" is a link', () => symlinkSync('/etc/passwd', inWorkspace('site/a/x'))],
    ['a link to a directory', '"a/x" is a link', () => symlinkSync('/etc', inWorkspace('site/a/x'))],
    ['a link that leads nowhere', '"a/x" is a link', () => symlinkSync('nowhere', inWorkspace('site/a/x'))],
    ['a pipe', 'neither a file nor', () => execFileSync('mkfifo', [inWorkspace('site/a/x')])],
    ['a socket', 'neither a file nor', () => bindSocket(inWorkspace('site/a/x'))],
    ['a name with a line break', 'a name that cannot be', () => writeFileSync(inWorkspace('site/a/x\nb'), '')],
    ['a name with a backslash', 'a name that cannot be', () => writeFileSync(inWorkspace('site/a/..\\b'), '')],
    ['an invisible name', 'a name that cannot be', () => writeFileSync(inWorkspace('site/a/\u202etxt'), '')],
  ];

  test.each(obstacles)('goes on to be refused where there is %s, and says why', async (_what, reason, place) => {
    mkdirSync(inWorkspace('site', 'a'), { recursive: true });
    place();
    answer = () => ({ code: 'content-missing', detail: 'No content.' });
    const { problem } = await call('artifacts.publish', { path: 'site' });
    expect(problem).toContain('content-missing: No content. ("site": ');
    expect(problem).toContain(reason);
    expect(host.calls()[0]?.['input']).toEqual({ path: 'site' });
    expect([...host.content.values()].some((bytes) => bytes.includes('root:'))).toBe(false);
  });

  test('follows no link to the directory itself, nor out of the workspace', async () => {
    mkdirSync(inWorkspace('real'));
    symlinkSync('real', inWorkspace('link'));
    symlinkSync('/etc', inWorkspace('etc'));
    answer = () => ({ code: 'content-missing', detail: 'No content.' });
    expect((await call('artifacts.publish', { path: 'link' })).problem).toContain('is a link');
    expect((await call('artifacts.publish', { path: 'etc/ssl' })).problem).toContain('leads out of the workspace');
    expect(host.content.size).toBe(0);
  });
});

test('a directory of 100,000 files is refused before any is uploaded', async () => {
  const program = `mkdir site && cd site && i=0 && seq 100000 | xargs touch`;
  execFileSync('sh', ['-c', program], { cwd: place.workspace });
  answer = () => ({ code: 'content-missing', detail: 'No content.' });
  const { problem } = await fromRunner('artifacts.publish', { path: 'site' });
  expect(problem).toContain(`is one more than the ${maxDirectoryEntries} allowed`);
  expect(host.received.filter(({ method }) => method === 'PUT')).toEqual([]);
});

/** Has the tool host answer as after `artifacts.read {to}` of some content. */
function hand(content: string | DirectoryManifest): string {
  const bytes = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
  const sha256 = sha256Of(bytes);
  host.content.set(sha256, bytes);
  const kind = typeof content === 'string' ? 'file' : 'directory';
  answer = () => ({
    output: 'not yet',
    metadata: { id: 'art_1', name: 'level', kind, sha256, sizeBytes: kind === 'file' ? bytes.length : 8 },
  });
  return sha256;
}

/** Has it hand over a directory with an executable file in a directory. */
function handDirectory(): void {
  host.content.set(sha256Of('echo'), Buffer.from('echo'));
  const file = { kind: 'file' as const, sha256: sha256Of('echo'), sizeBytes: 4 };
  hand({
    version: 1,
    entries: [
      { kind: 'directory', path: 'bin' },
      { ...file, path: 'bin/run', executable: true },
      { kind: 'directory', path: 'empty' },
      { ...file, path: 'text', executable: false },
    ],
  });
}

describe.each(Object.entries(runners))('reading an artifact into the workspace, by %s', (_name, call) => {
  test('writes the file, over the one that is there, and says so', async () => {
    hand('level 3.2 m\n');
    await mkdir(inWorkspace('in'));
    await writeFile(inWorkspace('in', 'level.md'), 'something that is longer than the new content');
    for (const to of ['in/level.md', 'new/deep/level.md', './in/../in/level.md']) {
      expect(await call('artifacts.read', { name: 'level', to })).toEqual({
        output: `Wrote level (art_1), 12 bytes, to ${to}.`,
      });
      expect(readFileSync(inWorkspace(to), 'utf8')).toBe('level 3.2 m\n');
    }
    expect(host.received.find(({ method }) => method === 'GET')?.authorization).toBe('Bearer tool-token');
  });

  test('writes a directory, into the one that is there, and leaves what else it holds', async () => {
    handDirectory();
    await mkdir(inWorkspace('tools', 'bin'), { recursive: true });
    await writeFile(inWorkspace('tools', 'mine'), 'mine');
    const { output } = await call('artifacts.read', { id: 'art_1', to: 'tools' });
    expect(output).toBe('Wrote level (art_1), 2 files, 8 bytes, to tools.');
    expect((await readdir(inWorkspace('tools'), { recursive: true })).sort()).toEqual(
      ['bin', 'bin/run', 'empty', 'mine', 'text'].sort(),
    );
    expect((await stat(inWorkspace('tools/bin/run'))).mode & 0o111).toBe(0o111);
    expect((await stat(inWorkspace('tools/text'))).mode & 0o111).toBe(0);
    expect(await readFile(inWorkspace('tools/mine'), 'utf8')).toBe('mine');
  });

  test.each([
    ['../outside', 'is not a path inside the workspace'],
    ['/etc/x', 'is not a path inside the workspace'],
    ['away/x', 'leads out of the workspace'],
    ['away/new/x', 'leads out of the workspace'],
    ['secret', 'is a link'],
    ['dangling', 'is a link'],
    ['directory', 'EISDIR'],
    ['file/x', 'ENOTDIR'],
    ['fifo', 'fifo'],
  ])('refuses to write a file to %s, and writes nothing', async (to, reason) => {
    hand('owned');
    await setTraps();
    const { problem } = await call('artifacts.read', { id: 'art_1', to });
    expect(problem).toMatch(/^workspace-write-failed: "level" was not written: /);
    expect(problem).toContain(reason);
    await expectUntouched();
  });

  test.each([
    ['../outside', 'is not a path inside the workspace'],
    ['away', 'is a link'],
    ['file', 'is not a directory'],
    ['trapped', '"trapped/text": is a link'],
    ['bypass', '"bypass/bin": is a link'],
  ])('refuses to write a directory to %s, and writes nothing outside', async (to, reason) => {
    handDirectory();
    await setTraps();
    const { problem } = await call('artifacts.read', { id: 'art_1', to });
    expect(problem).toMatch(/^workspace-write-failed: /);
    expect(problem).toContain(reason);
    await expectUntouched();
  });

  test.each(['.git/hooks/post-checkout', 'x/.Git/config', '.suzumio/output'])(
    'writes nothing of a directory that would write to %s',
    async (path) => {
      host.content.set(sha256Of('echo'), Buffer.from('echo'));
      const file = { kind: 'file' as const, sha256: sha256Of('echo'), sizeBytes: 4, executable: true };
      const parts = path.split('/');
      const above = parts.slice(1).map((_, end) => parts.slice(0, end + 1).join('/'));
      const directories = above.map((name) => ({ kind: 'directory' as const, path: name }));
      const entries = [{ ...file, path: 'y' }, { ...file, path }, ...directories];
      hand({ version: 1, entries: entries.sort((a, b) => (a.path < b.path ? -1 : 1)) });
      const { problem } = await call('artifacts.read', { id: 'art_1', to: 'tools' });
      expect(problem).toMatch(/^workspace-write-failed: "level" was not written: .*no files of another agent/);
      expect(existsSync(inWorkspace('tools'))).toBe(false);
    },
  );

  test('does so again although the answer is one from before', async () => {
    hand('level 3.2 m\n');
    await call('artifacts.read', { name: 'level', to: 'level.md' });
    await rm(inWorkspace('level.md'));
    await call('artifacts.read', { name: 'level', to: 'level.md' });
    expect(existsSync(inWorkspace('level.md'))).toBe(true);
  });

  test('passes on why content is not given out', async () => {
    host.content.delete(hand('gone'));
    expect((await call('artifacts.read', { id: 'art_1', to: 'x' })).problem).toMatch(/^not-found: /);
    expect(existsSync(inWorkspace('x'))).toBe(false);
  });

  test('fetches again what arrived in part, or damaged', async () => {
    const sha256 = hand('level 3.2 m\n');
    const failures = [
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-length': 12 }).write('level');
        setTimeout(() => response.destroy(), 20);
      },
      (response: ServerResponse) => response.writeHead(200).end('lever 3.2 m\n'),
      (response: ServerResponse) => response.writeHead(503).end(),
    ];
    host.intercept = ({ url }, response) => {
      const failure = url === `/content/${sha256}` ? failures.shift() : undefined;
      failure?.(response);
      return failure !== undefined;
    };
    expect(await call('artifacts.read', { name: 'level', to: 'level.md' })).toHaveProperty('output');
    expect(failures).toEqual([]);
    expect(readFileSync(inWorkspace('level.md'), 'utf8')).toBe('level 3.2 m\n');
  });
});

test('a list of files that would lead elsewhere is taken from nobody, not even from the tool host', async () => {
  const file = { kind: 'file' as const, sha256: sha256Of('x'), sizeBytes: 1, executable: false };
  hand({ version: 1, entries: [{ ...file, path: '../outside' }] });
  const { problem } = await fromRunner('artifacts.read', { id: 'art_1', to: 'x' });
  expect(problem).toContain('is not the list of a directory');
  expect(existsSync(inWorkspace('..', 'outside'))).toBe(false);
});

/** What an agent may have put in the way. */
async function setTraps(): Promise<void> {
  await mkdir(inWorkspace('..', 'elsewhere'));
  await writeFile(inWorkspace('..', 'elsewhere', 'secret'), 'secret');
  await mkdir(inWorkspace('directory'));
  await mkdir(inWorkspace('trapped'));
  await mkdir(inWorkspace('bypass'));
  await writeFile(inWorkspace('file'), 'mine');
  await symlink('../elsewhere', inWorkspace('away'));
  await symlink('../elsewhere/secret', inWorkspace('secret'));
  await symlink('../elsewhere/new', inWorkspace('dangling'));
  await symlink('../../elsewhere/secret', inWorkspace('trapped', 'text'));
  await symlink('../../elsewhere', inWorkspace('bypass', 'bin'));
  execFileSync('mkfifo', [inWorkspace('fifo')]);
}

async function expectUntouched(): Promise<void> {
  expect(await readdir(inWorkspace('..', 'elsewhere'))).toEqual(['secret']);
  expect(await readFile(inWorkspace('..', 'elsewhere', 'secret'), 'utf8')).toBe('secret');
  expect(await readFile(inWorkspace('file'), 'utf8')).toBe('mine');
  expect((await readdir(inWorkspace('..'))).sort()).toEqual(['elsewhere', 'turn', 'workspace']);
  expect(lstatSync(inWorkspace('dangling')).isSymbolicLink()).toBe(true);
}

function bindSocket(path: string): void {
  const program = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 9))`;
  try {
    execFileSync(process.execPath, ['-e', program], { stdio: 'ignore' });
  } catch {
    // It was killed, so that its socket stays.
  }
}
