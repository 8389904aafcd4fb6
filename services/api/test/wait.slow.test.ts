import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { waitAnswer } from '@suzumio/contract/operations/events';
import { eventually } from '../../../test/support/poll.js';
import { uncut } from '../../../test/support/bounds.js';
import type { TestApi } from './support/api.js';
import { hintedApi } from './support/hinted-api.js';
import { submit } from './support/play.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
let seen: { looks: number };
beforeEach(async () => {
  ({ api, seen } = await hintedApi());
});
afterEach(() => api.close());

const path = '/api/projects/team';
const wait = async (query: string) => waitAnswer.parse((await api.get(`${path}/wait?${query}`)).json);
/** The wait has been asked for and goes on. */
const waiting = () => eventually('somebody waits', () => seen.looks >= 2);

describe('waiting for a status', () => {
  test('that the project has is over at once', async () => {
    expect(await wait('status=submitted,running')).toMatchObject({
      reached: 'running',
      project: { status: 'running' },
    });
  });

  test('ends when it is reached', async () => {
    const answer = wait('status=submitted,completed&timeout=60s');
    await waiting();
    await submit(api, 'team', 'ada', '# Report\n');
    expect(await answer).toMatchObject({ reached: 'submitted', project: { status: 'submitted', reportVersion: 1 } });
  });

  test('ends also when the project stays in it for no time at all', async () => {
    const answers = [wait('status=stopped&timeout=60s'), wait('status=stopped&timeout=60s')];
    await eventually('both wait', () => seen.looks >= 3);
    await api.write('team', (tx) => {
      tx.emit({ type: 'project.stopped', actor: 'test', data: { now: false } });
      tx.emit({ type: 'project.started', actor: 'test' });
    });
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatchObject({ reached: 'stopped', project: { status: 'running' } });
    }
  });

  test('ends when the time is up, having looked at nothing meanwhile', async () => {
    const begun = performance.now();
    expect(await wait('status=completed&timeout=300ms')).toMatchObject({
      reached: null,
      project: { status: 'running' },
    });
    expect(performance.now() - begun).toBeGreaterThanOrEqual(290);
    // The first look, the feed's, the last one.
    expect(seen.looks).toBeLessThanOrEqual(3);
  });

  test('is answered before what stands in front of the server gives up, however long it may take', async () => {
    const bound = jest.spyOn(AbortSignal, 'timeout');
    const answer = wait('status=submitted&timeout=60s');
    await waiting();
    await submit(api, 'team', 'ada', '# Report\n');
    expect(await answer).toMatchObject({ reached: 'submitted' });
    expect(bound.mock.calls).toEqual([[50_000]]);
    bound.mockRestore();
  });

  test('ends with the service, which says that another may know', async () => {
    const answer = api.get(`${path}/wait?status=completed&timeout=60s`);
    await waiting();
    await uncut(() => api.api.stop());
    expect(refusal(await answer)).toMatchObject({ status: 503, code: 'server-unreachable' });
  });

  test('leaves nothing behind when its client goes', async () => {
    const gone = new AbortController();
    const headers = { authorization: `Bearer ${api.adminToken}` };
    const answer = fetch(`${api.url}${path}/wait?status=completed`, { headers, signal: gone.signal });
    await waiting();
    gone.abort();
    await expect(answer).rejects.toThrow();
    await submit(api, 'team', 'ada', '# Report\n');
    expect(api.logLines().filter(({ level }) => level === 'error')).toEqual([]);
  });

  test.each([
    ['', /status/],
    ['status=done', /status\[0\]: .*completed/],
    ['status=completed&timeout=61s', /timeout: at most 60s/],
    ['status=completed&timeout=3', /timeout: not a duration: say of what 3 is a number, such as 3s or 3ms/],
    ['status=completed&timeout=soon', /timeout: not a duration/],
  ])('refuses ?%s', async (query, detail) => {
    const refused = refusal(await api.get(`${path}/wait?${query}`));
    expect(refused).toMatchObject({ status: 400, code: 'invalid-request' });
    expect(refused.detail).toMatch(detail);
  });
});
