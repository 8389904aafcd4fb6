import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type LiveLine, livePathOf } from '@suzumio/protocol/live';
import { eventually } from '../../../test/support/poll.js';
import { type TestApi, testApi } from './support/api.js';
import { type FakeToolhost, fakeToolhost } from './support/fake-toolhost.js';
import { beginTurn } from './support/play.js';
import { type EventStream, openStream } from './support/sse-client.js';

let toolhosts: FakeToolhost[];
let urls: string[];
let api: TestApi;
let turn: string;
beforeEach(async () => {
  toolhosts = [await fakeToolhost(), await fakeToolhost()];
  urls = toolhosts.map(({ url }) => url);
  api = await testApi({ toolhostUrls: () => urls });
  await api.create();
  ({ turn } = await beginTurn(api, 'team', 'ada'));
});
afterEach(async () => {
  await api.close();
  await Promise.all(toolhosts.map((toolhost) => toolhost.close()));
});

const follow = (token = api.adminToken): Promise<EventStream> =>
  openStream(`${api.url}/api/projects/team/turns/ada:1/live`, { authorization: `Bearer ${token}` });
const refused = async (token?: string) => {
  const stream = await follow(token);
  const { response } = stream;
  let text = '';
  for await (const chunk of response) text += String(chunk);
  stream.cut();
  return { status: response.statusCode, code: (JSON.parse(text) as { code: string }).code };
};
const output = (text: string): LiveLine => ({ kind: 'output', step: '0.0', stream: 'stdout', text });
const allFollowed = () =>
  eventually('both are followed', () => toolhosts.every(({ followers }) => followers.length === 1));
const [first, second] = [() => toolhosts[0] as FakeToolhost, () => toolhosts[1] as FakeToolhost];

describe('the live stream of a turn', () => {
  test('passes on what any ToolHost tells, and ends with the attempt', async () => {
    const stream = await follow();
    expect(stream.response.headers['content-type']).toMatch(/^text\/event-stream/);
    await allFollowed();
    expect(first().asked).toEqual([
      { path: livePathOf('team', turn), authorization: `Bearer ${api.cell.directory.serviceToken()}` },
    ]);
    first().say({ kind: 'model', step: '0', text: 'I begin.' });
    expect(await stream.next()).toMatchObject({ type: 'live', data: { kind: 'model', text: 'I begin.' } });
    second().say(output('one\n'));
    expect(await stream.next()).toMatchObject({ type: 'live', data: output('one\n') });
    await api.post('/api/projects/team/turns/ada:1/cancel');
    expect(await stream.next()).toMatchObject({ type: 'end', data: { attempt: 1, status: 'cancelled' } });
    expect(await stream.next()).toBeUndefined();
    await eventually('nobody follows any more', () => toolhosts.every(({ followers }) => followers.length === 0));
  });

  test('of a turn that is over ends at once', async () => {
    await api.post('/api/projects/team/turns/ada:1/cancel');
    const stream = await follow();
    expect(await stream.next()).toMatchObject({ type: 'end', data: { status: 'cancelled' } });
    expect(await stream.next()).toBeUndefined();
    expect(first().asked).toEqual([]);
  });

  test('goes on with a gap where a ToolHost was lost, and without one that is not there', async () => {
    await second().close();
    const stream = await follow();
    await eventually('the other is followed', () => first().followers.length === 1);
    first().say(output('one\n'));
    expect(await stream.next()).toMatchObject({ data: output('one\n') });
    first().followers[0]?.destroy();
    expect(await stream.next()).toMatchObject({ data: { kind: 'gap', bytes: 0 } });
    await eventually('it is followed again', () => first().followers.length === 1);
    first().say(output('two\n'));
    expect(await stream.next()).toMatchObject({ data: output('two\n') });
    stream.cut();
    await eventually('nobody follows any more', () => first().followers.length === 0);
  });

  test('says so where no ToolHost is set or reached, or all are full', async () => {
    for (const toolhost of toolhosts) toolhost.refusal = { status: 503, code: 'live-full' };
    expect(await refused()).toEqual({ status: 503, code: 'live-full' });
    await Promise.all(toolhosts.map((toolhost) => toolhost.close()));
    expect(await refused()).toEqual({ status: 503, code: 'live-unavailable' });
    urls = [];
    expect(await refused()).toEqual({ status: 503, code: 'live-unavailable' });
  });

  test('is for those who may read the project', async () => {
    await api.create(
      'name: other\ntask: x\nbackend: { runner: { mode: mock } }\nagents: { a: { role: r, prompt: p } }\n',
    );
    expect(await refused(await api.token('read', 'other'))).toEqual({ status: 403, code: 'forbidden' });
    const stream = await follow(await api.token('read', 'team'));
    await allFollowed();
    stream.cut();
  });

  test('keeps nothing for a client who does not read', async () => {
    const stream = await follow();
    await allFollowed();
    const [follower] = first().followers;
    const line = `${JSON.stringify(output('a line of a build that prints a lot\n'.repeat(400)))}\n`;
    // What the API does not take stays with the ToolHost, which is told so.
    let written = 0;
    while (follower && written < 100 * 1024 * 1024) {
      written += line.length;
      if (follower.write(line)) continue;
      const drained = once(follower, 'drain').then(() => true);
      const waited = new Promise((resolve) => setTimeout(resolve, 500, false));
      if (!(await Promise.race([drained, waited]))) break;
    }
    expect(written).toBeLessThan(50 * 1024 * 1024);
    stream.cut();
  });
});
