import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { entryListAnswer } from '@suzumio/contract/operations/artifacts';
import { artifactView } from '@suzumio/contract/model/artifact';
import { messageView } from '@suzumio/contract/model/message';
import { ContentStore } from '@suzumio/store/content/content-store';
import { publishedDirectory } from '@suzumio/store/content/directories';
import { directoryArchive } from '../src/operations/directory-archive.js';
import { teamYaml } from '../../../test/support/cell.js';
import { eventually } from '../../../test/support/poll.js';
import { type TestApi, testApi } from './support/api.js';
import { publishDirectory } from './support/play.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
let id: string;
let scratch: string;
const path = '/api/projects/team/artifacts';
const longName = `${'ü'.repeat(120)}.md`;
const texts = {
  'index.md': '# Level\n',
  'bin/run': '#!/bin/sh\necho 3.2\n',
  'bin/-rf': 'not an option',
  [`deep/${longName}`]: 'long',
};

beforeAll(async () => {
  api = await testApi();
  await api.create();
  id = await publishDirectory(api, 'team', 'site map', texts, ['bin/run']);
  scratch = await mkdtemp(join(tmpdir(), 'suzumio-directories-'));
});
afterAll(async () => {
  await rm(scratch, { recursive: true, force: true });
  await api.close();
});

async function download(artifact: string, query = ''): Promise<{ response: Response; bytes: Buffer }> {
  const headers = { authorization: `Bearer ${api.adminToken}` };
  const response = await fetch(`${api.url}${path}/${artifact}/content${query}`, { headers });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

describe('an artifact that is a directory', () => {
  test('says so, and what is in it', async () => {
    const artifact = artifactView.parse((await api.get(`${path}/${id}`)).json);
    expect(artifact).toMatchObject({ kind: 'directory', files: 4, name: 'site map' });
    const { items } = entryListAnswer.parse((await api.get(`${path}/${id}/entries`)).json);
    expect(items.map((entry) => entry.path)).toEqual([
      'bin',
      'bin/-rf',
      'bin/run',
      'deep',
      `deep/${longName}`,
      'index.md',
    ]);
    expect(items[2]).toEqual({
      kind: 'file',
      path: 'bin/run',
      sha256: createHash('sha256').update(texts['bin/run']).digest('hex'),
      sizeBytes: 19,
      executable: true,
    });
  });

  test('is downloaded as a tar that unpacks into one directory, the same each time', async () => {
    const { response, bytes } = await download(id);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/x-tar');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="site map.tar"');
    expect(response.headers.get('accept-ranges')).toBe('none');
    const file = join(scratch, 'site.tar');
    await writeFile(file, bytes);
    execFileSync('tar', ['-xf', file], { cwd: scratch });
    for (const [name, text] of Object.entries(texts)) {
      expect(await readFile(join(scratch, 'site map', name), 'utf8')).toBe(text);
    }
    expect((await stat(join(scratch, 'site map/bin/run'))).mode & 0o777).toBe(0o755);
    expect((await stat(join(scratch, 'site map/index.md'))).mode & 0o7777).toBe(0o644);
    const listed = execFileSync('tar', ['-tvf', file], { encoding: 'utf8' }).trim().split('\n');
    expect(listed.every((line) => / site map\//.test(line) && / 0\/0 /.test(line))).toBe(true);
    expect((await download(id)).bytes.equals(bytes)).toBe(true);
  });

  test('knows the client that has it, and is not sent in parts', async () => {
    const { response } = await download(id);
    const etag = response.headers.get('etag') ?? '';
    const known = await api.get(`${path}/${id}/content`, { headers: { 'if-none-match': etag } });
    expect([known.status, known.text]).toEqual([304, '']);
    const part = await api.get(`${path}/${id}/content`, { headers: { range: 'bytes=0-9' } });
    expect(part.status).toBe(200);
    const head = await api.call('HEAD', `${path}/${id}/content`);
    expect([head.status, head.text, head.headers['content-type']]).toEqual([200, '', 'application/x-tar']);
  });

  test('gives out one file of it, whole or in part', async () => {
    const { response, bytes } = await download(id, '?path=bin%2Frun');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename=run');
    expect(bytes.toString()).toBe(texts['bin/run']);
    const part = await api.get(`${path}/${id}/content?path=index.md`, { headers: { range: 'bytes=2-6' } });
    expect([part.status, part.text, part.headers['content-range']]).toEqual([206, 'Level', 'bytes 2-6/8']);
    const beyond = await api.get(`${path}/${id}/content?path=index.md`, { headers: { range: 'bytes=99-' } });
    expect(refusal(beyond).code).toBe('range-not-satisfiable');
  });

  test.each(['none', 'bin', '../../project.db', '/etc/passwd', 'bin/../index.md', 'index.md/'])(
    'has no file %j',
    async (name) => {
      const answer = await api.get(`${path}/${id}/content?path=${encodeURIComponent(name)}`);
      expect(refusal(answer)).toMatchObject({ status: 404, code: 'artifact-entry-unknown' });
    },
  );

  test('may be empty', async () => {
    const empty = await publishDirectory(api, 'team', 'nothing', {});
    expect((await api.get(`${path}/${empty}/entries`)).json).toEqual({ items: [] });
    const file = join(scratch, 'empty.tar');
    await writeFile(file, (await download(empty)).bytes);
    expect(execFileSync('tar', ['-tf', file], { encoding: 'utf8' })).toBe('nothing/\n');
  });

  test('is streamed: a client that leaves in the middle ends it, and no file stays open', async () => {
    const big = 'x'.repeat(8 * 1024 * 1024);
    const large = await publishDirectory(api, 'team', 'large', { a: `${big}a`, b: `${big}b`, c: `${big}c` });
    const headers = { authorization: `Bearer ${api.adminToken}` };
    const request = httpRequest(`${api.url}${path}/${large}/content`, { headers, agent: false }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await once(response, 'readable');
    response.read(1024);
    expect(contentFiles()).not.toEqual([]);
    response.destroy();
    await eventually('its files are closed', () => contentFiles().length === 0);
    expect(api.logLines().filter(({ level }) => Number(level) >= 50)).toEqual([]);
    expect((await download(large)).bytes.length).toBeGreaterThan(3 * big.length);
  });

  test('is given up where nobody takes the first byte of it', async () => {
    const untouched = await publishDirectory(api, 'team', 'untouched', { a: 'x'.repeat(1024 ** 2) });
    const content = new ContentStore(api.cell.directory.projectDir('team'));
    const artifact = artifactView.parse((await api.get(`${path}/${untouched}`)).json);
    const archive = directoryArchive(content, artifact, await publishedDirectory(content, artifact.sha256));
    await eventually('its first file is open', () => contentFiles().length > 0);
    archive.destroy();
    await eventually('its files are closed', () => contentFiles().length === 0);
  });

  test('is cut off, and does not end as if it were whole, where a file of it is gone', async () => {
    const broken = await publishDirectory(api, 'team', 'broken', { a: 'here', b: 'gone' });
    const content = new ContentStore(api.cell.directory.projectDir('team'));
    const gone = createHash('sha256').update('gone').digest('hex');
    await unlink(join(api.cell.directory.projectDir('team'), content.pathOf(gone)));
    await expect(download(broken)).rejects.toThrow();
    expect(refusal(await api.get(`${path}/${broken}/content?path=b`)).code).toBe('store-corrupt');
  });
});

test('the archive of all has no two names that differ in case or in how they are written alone', async () => {
  await api.create(teamYaml.replace('name: team', 'name: twins'));
  const made: { id: string }[] = [];
  for (const name of ['Level.md', 'level.md', 'LEVEL.md', 'Gr\u00fcn', 'Gru\u0308n']) {
    const headers = { 'content-type': 'application/octet-stream' };
    const query = `name=${encodeURIComponent(name)}`;
    const answer = await api.post(`/api/projects/twins/artifacts?${query}`, name, { headers });
    made.push(artifactView.parse(answer.json));
  }
  const headers = { authorization: `Bearer ${api.adminToken}` };
  const response = await fetch(`${api.url}/api/projects/twins/artifacts-archive`, { headers });
  const file = join(scratch, 'twins.tar');
  await writeFile(file, Buffer.from(await response.arrayBuffer()));
  const listed = execFileSync('tar', ['-tf', file, '--quoting-style=literal'], { encoding: 'utf8' }).trim().split('\n');
  const told = (name: string, index: number) => `twins-artifacts/${name}-${made[index]?.id ?? ''}`;
  expect(listed).toEqual([
    'twins-artifacts/',
    'twins-artifacts/Level.md',
    told('level.md', 1),
    told('LEVEL.md', 2),
    'twins-artifacts/Gr\u00fcn',
    told('Gru\u0308n', 4),
  ]);
});

test('a file has no entries, and no files in it', async () => {
  const headers = { 'content-type': 'application/octet-stream' };
  const file = artifactView.parse((await api.post(`${path}?name=a.csv`, 'a', { headers })).json);
  expect(file).toMatchObject({ kind: 'file', files: 1 });
  expect(refusal(await api.get(`${path}/${file.id}/entries`)).code).toBe('artifact-entry-unknown');
  expect(refusal(await api.get(`${path}/${file.id}/content?path=a.csv`)).code).toBe('artifact-entry-unknown');
});

test('artifacts are found by their name, the newest last', async () => {
  const headers = { 'content-type': 'application/octet-stream' };
  const made = [];
  for (const body of ['1', '2', '3']) {
    made.push(
      artifactView.parse((await api.post(`${path}?name=level%2Fx`.replace('%2F', '-'), body, { headers })).json),
    );
  }
  const named = async (query: string) =>
    ((await api.get(`${path}?name=level-x${query}`)).json as { items: { id: string }[] }).items.map((one) => one.id);
  expect(await named('')).toEqual(made.map((one) => one.id));
  expect(await named('&limit=1')).toEqual([made[2]?.id]);
  expect(await named(`&after=${String(made[0]?.seq)}`)).toEqual([made[1]?.id, made[2]?.id]);
  expect(((await api.get(`${path}?name=none`)).json as { items: unknown[] }).items).toEqual([]);
});

describe('mail that carries artifacts', () => {
  const messages = '/api/projects/team/messages';

  test('names them by id or name, and shows them', async () => {
    const answer = await api.post(messages, { recipient: 'ada', body: 'Look.', attachments: ['site map', id] });
    expect(answer.status).toBe(201);
    const { items } = (await api.get(`${messages}?limit=1`)).json as { items: unknown[] };
    expect(messageView.parse(items[0]).attachments).toEqual([
      {
        id,
        name: 'site map',
        kind: 'directory',
        files: 4,
        sizeBytes: Buffer.byteLength(Object.values(texts).join('')),
      },
    ]);
  });

  test('is refused with what is unknown, with too many, and in the first mail of a project, which has none', async () => {
    const send = (attachments: unknown) => api.post(messages, { recipient: 'ada', body: 'Look.', attachments });
    expect(refusal(await send(['none.csv']))).toMatchObject({
      status: 422,
      code: 'attachment-unknown',
      detail: expect.stringContaining('"none.csv"'),
    });
    for (const nonsense of [Array.from({ length: 21 }, () => id), 'site map', [1], [''], [null]]) {
      expect(refusal(await send(nonsense))).toMatchObject({ status: 400, code: 'invalid-request' });
    }
    const file =
      'name: fresh\ntask: Work.\nbackend: { runner: { mode: mock } }\nagents:\n  ada: { role: writer, prompt: Write. }\n';
    const posted = await api.post('/api/projects', {
      file,
      message: { recipient: 'ada', body: 'x', attachments: ['site map'] },
    });
    expect(refusal(posted).code).toBe('attachment-unknown');
    expect((await api.get('/api/projects/fresh')).status).toBe(404);
  });
});

/** The project's content that this process has open. */
function contentFiles(): string[] {
  const directory = join(api.cell.directory.projectDir('team'), 'artifacts');
  const open = execFileSync('sh', ['-c', `readlink /proc/${String(process.pid)}/fd/* || true`], { encoding: 'utf8' });
  return open.split('\n').filter((file) => file.startsWith(directory));
}
