import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ArtifactSeen, ArtifactsSeen } from '@suzumio/protocol/artifacts-directory';
import { asOneName } from '@suzumio/protocol/one-name';
import { entriesOf, readSnapshot } from '@suzumio/protocol/workspace-snapshot';
import { removeTree } from '../../src/files/remove-tree.js';
import { upload } from '../../src/workspace/content-exchange.js';
import type { NameMaker } from '../../src/workspace/disk-names.js';
import { WorkspaceThreads } from '../../src/workspace/workspace-threads.js';
import { type Workspace, Workspaces } from '../../src/workspace/workspaces.js';

const agent = { cell: 'cell-1', project: 'paper', epoch: 1, agent: 'writer' };
const bounds = { maxBytes: 1_000_000, maxFileBytes: 500_000, maxEntries: 30 };

const threads = new WorkspaceThreads(new URL('../../dist/workspace/workspace-thread.js', import.meta.url));
afterAll(() => threads.close());

let directory: string;
let contents: Map<string, Buffer>;
let fetched: string[];
beforeEach(async () => {
  directory = await mkdtemp('/tmp/suzumio-artifacts-');
  contents = new Map();
  fetched = [];
});
afterEach(() => removeTree(directory));

const fetch = (sha256: string): Promise<Readable> => {
  fetched.push(sha256);
  const content = contents.get(sha256);
  return content ? Promise.resolve(Readable.from([content])) : Promise.reject(new Error(`no content ${sha256}`));
};
function add(content: string | Buffer): string {
  const bytes = Buffer.from(content);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  contents.set(sha256, bytes);
  return sha256;
}
const client = {
  hasContent: (sha256: string) => Promise.resolve(contents.has(sha256)),
  putContent: async (_sha256: string, content: Buffer | { stream: () => Readable | AsyncIterable<Uint8Array> }) => {
    add(Buffer.isBuffer(content) ? content : await buffer(content.stream()));
  },
};

const workspaces = (worker = 'w', more = {}, disk?: NameMaker) =>
  new Workspaces({
    workerDir: join(directory, worker),
    bounds: { ...bounds, ...more },
    boot: 'boot-1',
    threads,
    ...(disk ? { disk } : {}),
  });

/** As a disk makes names that tells neither case nor accents apart, and holds no colon. */
const folded = (path: unknown) => {
  if (String(path).includes(':')) throw Object.assign(new Error('It cannot be a name.'), { code: 'EINVAL' });
  const [before = '', below = ''] = String(path).split(/(?<=\/names-[^/]+)(?=\/)/);
  return before + asOneName(below);
};
const folding: NameMaker = {
  mkdir: ((path: string, options: object) => mkdir(folded(path), options)) as typeof mkdir,
  writeFile: (path, data, options) => writeFile(folded(path), data, options),
  lstat: ((path: string) => lstat(folded(path))) as typeof lstat,
  rm: (path, options) => rm(folded(path), options),
};

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

async function capture(workspace: Workspace, live = false) {
  await workspace.expectWrites();
  return workspace.capture({ store: (content) => upload(content, client), live });
}

async function pathsIn(snapshot: string | null): Promise<string[]> {
  if (snapshot === null) return [];
  const read = (sha256: string) => Promise.resolve(contents.get(sha256) ?? Buffer.alloc(0));
  return [...entriesOf(await readSnapshot(snapshot, read))].map(({ path }) => path);
}

describe("an agent's own artifacts", () => {
  test('are part of the snapshots of its workspace, and follow it to another host', async () => {
    const workspace = await workspaces().open(agent, undefined, { ignored: ['node_modules'] });
    expect((await capture(workspace)).id).toBeNull();
    await write(join(workspace.directory, 'notes.md'), 'n');
    await write(join(workspace.ownArtifacts, 'a.md'), '1');
    await write(join(workspace.ownArtifacts, 'site/node_modules/x'), 'x');
    expect(await readdir(workspace.directory)).toEqual(['notes.md']);
    const { id } = await capture(workspace, true);
    expect(await pathsIn(id)).toEqual([
      '.suzumio-artifacts',
      '.suzumio-artifacts/a.md',
      '.suzumio-artifacts/site',
      '.suzumio-artifacts/site/node_modules',
      '.suzumio-artifacts/site/node_modules/x',
      'notes.md',
    ]);
    const other = await workspaces('w2').open(agent, undefined);
    await other.bringTo(id, fetch);
    expect(await readdir(other.directory)).toEqual(['notes.md']);
    expect(await readFile(join(other.ownArtifacts, 'site/node_modules/x'), 'utf8')).toBe('x');
    // Nothing of it has changed.
    expect((await capture(other)).id).toBe(id);
    await rm(join(other.ownArtifacts, 'a.md'));
    await write(join(other.ownArtifacts, 'b.md'), '2');
    await other.bringTo(id, fetch);
    expect((await readdir(other.ownArtifacts)).sort()).toEqual(['a.md', 'site']);
    await other.bringTo(null, fetch);
    expect([await readdir(other.directory), await readdir(other.ownArtifacts)]).toEqual([[], []]);
    expect((await capture(other)).id).toBeNull();
  });

  test('are not what a workspace has under their name', async () => {
    const workspace = await workspaces().open(agent, undefined);
    await write(join(workspace.directory, '.suzumio-artifacts/forged.md'), 'f');
    await write(join(workspace.ownArtifacts, 'a.md'), '1');
    const live = await capture(workspace, true);
    expect(await pathsIn(live.id)).toEqual(['.suzumio-artifacts', '.suzumio-artifacts/a.md']);
    expect((await capture(workspace)).id).toBe(live.id);
    expect(await readdir(workspace.directory)).toEqual([]);
    await rm(join(workspace.ownArtifacts, 'a.md'));
    await symlink('/etc', join(workspace.directory, '.suzumio-artifacts'));
    expect((await capture(workspace)).id).toBeNull();
  });

  test('count towards the bounds of the workspace, and are named as their agent knows them', async () => {
    const workspace = await workspaces().open(agent, undefined);
    for (let n = 0; n < 20; n += 1) await write(join(workspace.directory, `w${String(n)}`), '');
    for (let n = 0; n < 20; n += 1) await write(join(workspace.ownArtifacts, `a${String(n)}`), '');
    await expect(capture(workspace, true)).rejects.toThrow(/more than 30 files .*"\/artifacts\/writer" \(81920 bytes/);
  });

  test('leave out what no snapshot holds, and say so', async () => {
    const workspace = await workspaces().open(agent, undefined);
    execFileSync('mkfifo', [join(workspace.ownArtifacts, 'pipe')]);
    const { id, leftOut } = await capture(workspace);
    expect([id, leftOut]).toEqual([null, { count: 1, names: ['/artifacts/writer/pipe'] }]);
    expect(await readdir(workspace.ownArtifacts)).toEqual([]);
  });

  test('are gone with their project', async () => {
    const all = workspaces();
    const workspace = await all.open(agent, undefined);
    await all.others(agent, undefined);
    await write(join(workspace.ownArtifacts, 'a.md'), '1');
    await all.remove(agent);
    expect(await readdir(join(directory, 'w/artifacts/cell-1'))).toEqual([]);
  });
});

describe('what others have published', () => {
  const file = (creator: string, name: string, text: string): ArtifactSeen => ({
    creator,
    name,
    kind: 'file',
    sha256: add(text),
    sizeBytes: Buffer.byteLength(text),
  });
  const folder = (creator: string, name: string, files: Record<string, string>): ArtifactSeen => {
    const directories = new Set(Object.keys(files).flatMap((path) => (path.includes('/') ? [dirname(path)] : [])));
    const entries = [
      ...[...directories].map((path) => ({ kind: 'directory' as const, path })),
      ...Object.entries(files).map(([path, text]) => {
        return { kind: 'file' as const, path, sha256: add(text), sizeBytes: text.length, executable: true };
      }),
    ].sort((a, b) => (a.path < b.path ? -1 : 1));
    const sha256 = add(JSON.stringify({ version: 1, entries }));
    return { creator, name, kind: 'directory', sha256, sizeBytes: Object.values(files).join('').length };
  };
  const bring = async (
    published: ArtifactSeen[],
    more: Partial<ArtifactsSeen & { link: string }> = {},
    disk?: NameMaker,
  ) => {
    const others = await workspaces('w', {}, disk).others(agent, undefined);
    const left = await others.bringTo({ agent: 'writer', creators: ['editor', 'writer'], published, ...more }, fetch);
    return { at: (path: string) => join(others.directory, path), left };
  };

  test('is in a directory of each, and where it is the same nothing is looked at', async () => {
    const published = [file('editor', 'b.md', 'b'), folder('editor', 'site', { 'in/run': 'r', 'in-x': 'x', top: 't' })];
    const { at, left } = await bring(published);
    expect(left).toBe(0);
    expect((await readdir(at('.'))).sort()).toEqual(['editor', 'writer']);
    expect(await readdir(at('writer'))).toEqual([]);
    expect(await readFile(at('editor/b.md'), 'utf8')).toBe('b');
    expect(await readFile(at('editor/site/in/run'), 'utf8')).toBe('r');
    expect((await lstat(at('editor/site/in/run'))).mode & 0o111).toBe(0o111);
    fetched = [];
    await writeFile(at('editor/planted'), 'p');
    await bring(published);
    expect(fetched).toEqual([]);
    expect(await readdir(at('editor'))).toContain('planted');
  });

  test('is brought to a new version of it, and mended where programs may write there', async () => {
    const { at } = await bring([file('editor', 'b.md', '1'), file('editor', 'c.md', 'c')]);
    fetched = [];
    const second = [file('editor', 'b.md', '22'), file('editor', 'c.md', 'c')];
    await bring(second);
    expect(await readFile(at('editor/b.md'), 'utf8')).toBe('22');
    expect(fetched).toHaveLength(1);
    const link = { link: '/somewhere/own' };
    await bring(second, link);
    await writeFile(at('editor/b.md'), 'ff');
    await writeFile(at('planted'), 'p');
    await bring(second, link);
    expect(await readFile(at('editor/b.md'), 'utf8')).toBe('22');
    expect(await readdir(at('.'))).not.toContain('planted');
  });

  test('has a link to the own directory where nothing is mounted', async () => {
    const { at } = await bring([], { link: '/somewhere/own' });
    expect(await readlink(at('writer'))).toBe('/somewhere/own');
    await bring([]);
    expect((await lstat(at('writer'))).isDirectory()).toBe(true);
  });

  test('leaves out what would be run, what no file system holds, and what is too much', async () => {
    const long = 'd'.repeat(250);
    const deep = [long, `${long}/${long}`, `${long}/${long}/${long}`].map((path) => ({ kind: 'directory', path }));
    const last = { kind: 'file', path: `${long}/${long}/${long}/${long}`, sha256: add('x'), sizeBytes: 1 };
    const list = JSON.stringify({ version: 1, entries: [...deep, { ...last, executable: false }] });
    const { at, left } = await bring([
      folder('editor', 'clone', { '.git/config': '[core]' }),
      file('editor', '.GIT', 'x'),
      file('editor', 'ß'.repeat(200), 'x'),
      { creator: 'editor', name: 'a-name-that-is-long', kind: 'directory', sha256: add(list), sizeBytes: 1 },
      file('editor', 'b.md', 'b'),
    ]);
    expect(left).toBe(4);
    expect(await readdir(at('editor'))).toEqual(['b.md']);
  });

  test('leaves out what the disk takes for another name, and nothing where it tells all apart', async () => {
    const published = [
      file('editor', 'README.md', 'first'),
      folder('editor', 'Readme.MD', { a: 'a' }),
      folder('editor', 'site', { 'a/x': 'x', 'b/y': 'y', 'b/Y': 'z' }),
      folder('editor', 'SITE', { 'a/x': 'x' }),
      file('editor', 'caf\u00e9', '1'),
      file('editor', 'cafe\u0301', '2'),
      file('editor', 'no:colon', 'c'),
      file('planner', 'readme.md', 'other'),
    ];
    const creators = ['editor', 'planner', 'writer'];
    const { at, left } = await bring(published, { creators }, folding);
    expect(left).toBe(4);
    expect((await readdir(at('editor'))).sort()).toEqual(['README.md', 'SITE', 'caf\u00e9']);
    expect(await readFile(at('planner/readme.md'), 'utf8')).toBe('other');
    expect(await readdir(join(directory, 'w/downloads'), { recursive: true })).not.toContainEqual(
      expect.stringContaining('names-'),
    );
    expect((await bring(published, { creators })).left).toBe(0);
    expect(await readdir(at('editor'))).toHaveLength(7);
  });

  test('is listed for a bounded time, whatever one of them has published', async () => {
    const names = Array.from({ length: 9_000 }, (_, at) => `d${String(at).padStart(4, '0')}`);
    const entries = [
      ...['.git', ...names].map((path) => ({ kind: 'directory', path })),
      { kind: 'file', path: 'f', sha256: add('x'), sizeBytes: 1, executable: false },
    ];
    const sha256 = add(JSON.stringify({ version: 1, entries }));
    const many = Array.from({ length: 60 }, (_, at) => {
      return { creator: 'editor', name: `big-${String(at)}`, kind: 'directory' as const, sha256, sizeBytes: 1 };
    });
    const after = [file('editor', 'small.md', 's'), folder('planner', 'tiny', { a: 'a' })];
    const { at, left } = await bring([...many, ...after], { creators: ['editor', 'planner', 'writer'] });
    expect(left).toBe(60);
    expect(fetched.filter((hash) => hash === sha256)).toHaveLength(3);
    expect(await readdir(at('editor'))).toEqual(['small.md']);
    expect(await readdir(at('planner/tiny'))).toEqual(['a']);
  });

  test('is refused where it is not what its hash says', async () => {
    const site = folder('editor', 'site', { a: 'a' });
    contents.set(site.sha256, Buffer.from('{"version":1,"entries":[]}'));
    await expect(bring([site])).rejects.toThrow('The list of the published directory site cannot be read.');
    const text = file('editor', 'b.md', 'b');
    contents.set(text.sha256, Buffer.from('c'));
    await expect(bring([text])).rejects.toThrow('editor/b.md');
  });
});
