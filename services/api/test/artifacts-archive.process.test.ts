import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { teamYaml } from '../../../test/support/cell.js';
import { eventually } from '../../../test/support/poll.js';
import { type TestApi, testApi } from './support/api.js';
import { publish, publishDirectory } from './support/play.js';

let api: TestApi;
let scratch: string;
const path = '/api/projects/team/artifacts-archive';
beforeAll(async () => {
  api = await testApi();
  await api.create();
  scratch = await mkdtemp(join(tmpdir(), 'suzumio-archive-'));
});
afterAll(async () => {
  await rm(scratch, { recursive: true, force: true });
  await api.close();
});

const file = (creator: string, name: string, text: string) =>
  publish(api, 'team', creator, { name, content: Buffer.from(text) });

async function download(query = ''): Promise<Buffer> {
  const headers = { authorization: `Bearer ${api.adminToken}` };
  const response = await fetch(`${api.url}${path}${query}`, { headers });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

/** What is in an archive: the text of each file by its path. */
async function unpacked(archive: Buffer): Promise<Record<string, string>> {
  const directory = await mkdtemp(join(scratch, 'unpacked-'));
  await writeFile(join(directory, 'all.tar'), archive);
  execFileSync('tar', ['-xf', 'all.tar', '--no-same-owner'], { cwd: directory });
  const root = join(directory, 'team-artifacts');
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(files.sort().map(async (one) => [one.slice(root.length + 1), await readFile(one, 'utf8')])),
  ) as Record<string, string>;
}

describe('the archive of all artifacts', () => {
  test('is one empty directory before anything is published', async () => {
    expect(await unpacked(await download())).toEqual({});
  });

  test('has of each name the newest version, without what was redacted', async () => {
    await file('ada', 'level.md', '3.1 m');
    await file('ben', 'notes.md', 'Of Ben.');
    await file('ada', 'level.md', '3.2 m');
    await file('ben', 'level.md', '3.3 m');
    await publishDirectory(api, 'team', 'site', { 'index.html': 'Hello', 'deep/er/a': '' });
    await file('ada', 'secret.md', 'The old one.');
    const { id } = await file('ada', 'secret.md', 'It must go.');
    await api.post(`/api/projects/team/artifacts/${id}/redact`, { because: 'It was wrong.' });
    const archive = await download();
    expect(await unpacked(archive)).toEqual({
      'level.md': '3.3 m',
      'notes.md': 'Of Ben.',
      'site/deep/er/a': '',
      'site/index.html': 'Hello',
    });
    expect((await download()).equals(archive)).toBe(true);
    expect(await unpacked(await download('?creator=ada'))).toEqual({
      'level.md': '3.2 m',
      'site/deep/er/a': '',
      'site/index.html': 'Hello',
    });
    expect(await unpacked(await download('?creator=user'))).toEqual({});
    const head = await api.call('HEAD', path);
    expect([head.status, head.text, head.headers['content-disposition']]).toEqual([
      200,
      '',
      'attachment; filename=team-artifacts.tar',
    ]);
    await api.create(teamYaml.replace('name: team', 'name: other'));
    expect((await api.get(path, { token: await api.token('read', 'other') })).status).toBe(403);
  });

  test('has names that a file can have, below its own directory', async () => {
    const long = `${'ü'.repeat(190)}.md`;
    const { id } = await file('ada', long, 'long');
    const { id: odd } = await file('ada', 'odd.md', 'odd');
    await api.write('team', (tx) => tx.run(`UPDATE artifacts SET name = '../../../../up/it' WHERE id = :odd`, { odd }));
    const files = await unpacked(await download());
    expect(files[`${'ü'.repeat(40)}-${id}`]).toBe('long');
    expect(files[`_.._.._.._up_it-${odd}`]).toBe('odd');
  });

  test('has more than one page of them, each once, while others are published', async () => {
    for (let number = 0; number < 230; number += 1)
      await file('ada', `page-${String(number % 220)}.md`, String(number));
    const files = Object.entries(await unpacked(await download('?creator=ada'))).filter(([name]) =>
      /^page-/.test(name),
    );
    expect(files).toHaveLength(220);
    expect(Object.fromEntries(files)).toMatchObject({ 'page-0.md': '220', 'page-9.md': '229', 'page-10.md': '10' });
  });

  test('is let go when its reader leaves', async () => {
    await publish(api, 'team', 'ada', { name: 'large', content: Buffer.alloc(30_000_000, 'x') });
    const request = httpRequest(`${api.url}${path}`, {
      headers: { authorization: `Bearer ${api.adminToken}` },
      agent: false,
    });
    request.on('error', () => undefined).end();
    await new Promise((resolve) => request.once('response', resolve));
    await eventually('a file is being read', () => openFiles().length > 0);
    request.destroy();
    await eventually('no file is open', () => openFiles().length === 0, { show: openFiles });
    expect(api.logLines().filter(({ level }) => level === 'error' || level === 50)).toEqual([]);
  });
});

/** The project's content that this process has open. */
function openFiles(): string[] {
  const directory = join(api.cell.directory.projectDir('team'), 'artifacts');
  const open = execFileSync('sh', ['-c', `readlink /proc/${String(process.pid)}/fd/* || true`], { encoding: 'utf8' });
  return open.split('\n').filter((one) => one.startsWith(directory));
}
