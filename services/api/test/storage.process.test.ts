import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ProjectDetailAnswer } from '@suzumio/contract/operations/projects';
import { defaultStorageLimits, type StorageLimits } from '@suzumio/contract/model/storage';
import type { UsageAnswer } from '@suzumio/contract/model/usage';
import { eventually } from '../../../test/support/poll.js';
import { type SmallDisk, smallDisk } from '../../../test/support/small-disk.js';
import { type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';

const mib = 1024 ** 2;
let api: TestApi;

const say = (body = 'Hello.') => api.post('/api/projects/team/messages', { recipient: 'ada', body });
const give = (bytes: number) =>
  api.call('POST', '/api/projects/team/artifacts?name=a.bin', {
    body: Buffer.alloc(bytes, 'a'),
    headers: { 'content-type': 'application/octet-stream' },
  });
const usage = async () => (await api.get('/api/usage?project=team')).json as UsageAnswer;
const detail = async () => (await api.get('/api/projects/team')).json as ProjectDetailAnswer;

async function start(limits: Partial<StorageLimits>, parent?: string): Promise<void> {
  const place = parent === undefined ? {} : { parent };
  api = await testApi({}, undefined, { ...place, storage: { ...defaultStorageLimits, ...limits } });
  await api.create();
}

describe('a project that has stored as much as it may', () => {
  beforeEach(() => start({ project: { files: 14_000, rows: 20_000 } }));
  afterEach(async () => {
    await api.close();
  });

  test('takes no files of people, and tells of it, while they write and delete', async () => {
    expect((await give(9_000)).status).toBe(201);
    expect(refusal(await give(2_000))).toMatchObject({ status: 403, code: 'quota-exceeded' });
    expect(await usage()).toMatchObject({
      stored: { bytes: { uploads: 12_288 }, projectsOverQuota: 0, disk: { shortFor: [] } },
    });
    for (let message = 0; message < 6; message += 1) expect((await say('x'.repeat(5_000))).status).toBe(201);
    const { stored } = await usage();
    expect(stored.bytes.rows).toBeGreaterThan(30_000);
    expect(stored.owners.find(({ owner }) => owner === 'user')?.bytes).toMatchObject({ uploads: 12_288 });
    expect(stored.projectsOverQuota).toBe(1);
    expect((await detail()).storageReached).toMatchObject([{ agent: null, limit: 'rows' }]);
    expect((await api.call('DELETE', '/api/projects/team')).status).toBe(200);
  });
});

describe('a disk that fills up', () => {
  let disk: SmallDisk;
  beforeEach(async () => {
    disk = await smallDisk(48 * mib);
    await start({ reserve: { files: 16 * mib, rows: 8 * mib, mail: 4 * mib } }, disk.path);
  });
  afterEach(async () => {
    // What ends writes that it has ended.
    await disk.empty();
    await api.close();
    await disk.close();
  });

  test('takes no files, then no changes but deletions, and tells of it', async () => {
    expect((await give(mib)).status).toBe(201);
    await disk.fill(12 * mib);
    expect(refusal(await give(2 * mib))).toMatchObject({ status: 507, code: 'disk-reserve' });
    expect((await say()).status).toBe(201);
    expect(await usage()).toMatchObject({ stored: { disk: { shortFor: ['files'] } } });
    expect((await detail()).storageReached).toMatchObject([{ agent: null, limit: 'disk' }]);
    await disk.fill(2 * mib);
    expect(refusal(await say())).toMatchObject({ status: 507, code: 'disk-reserve' });
    expect((await api.get('/api/projects/team/messages')).status).toBe(200);
    expect((await api.call('DELETE', '/api/projects/team')).status).toBe(200);
    await disk.empty();
    await api.create();
    expect((await say()).status).toBe(201);
  });

  test('of which nothing is left is told as that, loses nothing that was answered, and ends no service', async () => {
    await api.close();
    await start({ reserve: { files: 0, rows: 0, mail: 0 } }, disk.path);
    await disk.fill();
    let accepted = 0;
    await eventually('writing is refused', async () => {
      const answer = await say('x'.repeat(20_000));
      if (answer.status === 201) accepted += 1;
      else expect(refusal(answer)).toMatchObject({ status: 507, code: 'disk-full' });
      return answer.status === 507;
    });
    expect(refusal(await give(mib))).toMatchObject({ status: 507, code: 'disk-full' });
    expect((await api.get('/api/projects/team')).status).toBe(200);
    await disk.empty();
    expect((await say()).status).toBe(201);
    const { items } = (await api.get('/api/projects/team/messages?limit=500')).json as { items: unknown[] };
    expect(items).toHaveLength(accepted + 1);
  });

  test('of which nothing is left refuses a deletion whole, and takes it with a few kilobytes', async () => {
    await api.close();
    await start({ reserve: { files: 0, rows: 0, mail: 0 } }, disk.path);
    const remove = () => api.call('DELETE', '/api/projects/team');
    await disk.fill();
    const full = await remove();
    expect(refusal(full)).toMatchObject({ status: 507, code: 'disk-full' });
    // What is refused for want of room is no remedy for it.
    expect((full.json as { detail: string }).detail).toContain('needs a few kilobytes itself');
    expect((await api.get('/api/projects/team/messages')).status).toBe(200);
    await disk.empty();
    expect((await say()).status).toBe(201);
    await disk.fill(64 * 1024);
    expect((await remove()).status).toBe(200);
    expect((await api.get('/api/projects/team')).status).toBe(404);
  });
});
