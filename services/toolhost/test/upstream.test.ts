import { utimes } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import { collectContent } from '@suzumio/store/content/collect-content';
import { ContentStore } from '@suzumio/store/content/content-store';
import { type Begun, type ToolhostBench, toolhostBench } from './toolhost-client.js';

const git = 'https://example.org/tides.git';
const yaml = `
name: lab
task: Mend it.
backend: { runner: { mode: mock } }
tools: { toolpacks: [files, workspace] }
agents:
  dev: { role: developer, prompt: Mend., tools: [artifacts.publish, workspace.git.refresh], workspace: { git: '${git}' } }
  tester: { role: tester, prompt: Test., tools: [file.apply, workspace.git.refresh] }
`;
const id = (letter: string) => letter.repeat(40);
const base = id('a');
const pack = Buffer.from('a pack, as far as the ToolHost knows');
const hash = createHash('sha256').update(pack).digest('hex');

let bench: ToolhostBench;
beforeEach(async () => {
  bench = await toolhostBench({ policy: { ...defaultPolicy, git: [git] } });
  await bench.testing.create(yaml);
});
afterEach(() => bench.close());

async function put(of: Begun, route: string, body: object | Buffer): Promise<{ status: number; body: unknown }> {
  const url = `${bench.toolhost.workerUrl}/projects/lab/turns/${of.turn}/attempts/${String(of.answer.attempt)}/${route}`;
  const isJson = !Buffer.isBuffer(body);
  const response = await fetch(url, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${of.answer.leaseToken}`,
      'content-type': isJson ? 'application/json' : 'application/octet-stream',
    },
    body: isJson ? JSON.stringify(body) : Buffer.from(body),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

const fetched = (of: Begun) =>
  fetch(`${bench.toolhost.runnerUrl}/git/packs/${hash}`, {
    headers: { authorization: `Bearer ${of.answer.toolToken}` },
  });

async function cloned(): Promise<void> {
  const first = await bench.begin('lab', 'dev');
  expect(first.answer).toMatchObject({ clone: { git } });
  expect(first.answer.look).toBeUndefined();
  const manifest = Buffer.from('{"version":2,"entries":[]}');
  const snapshot = createHash('sha256').update(manifest).digest('hex');
  await put(first, `content/${snapshot}`, manifest);
  expect((await put(first, 'base', { commit: base, snapshot })).status).toBe(204);
  await first.report('complete', { output: { text: 'Done.' } });
}

test('a worker is asked to look before a turn, and a pack that it found is for that agent alone', async () => {
  await cloned();
  const dev = await bench.begin('lab', 'dev');
  expect(dev.answer.look).toEqual({ git, branch: 'suzumio/dev', known: [base] });
  expect(dev.answer.input.repository).toMatchObject({ base });
  const report = {
    commit: id('b'),
    ahead: 1,
    rewritten: false,
    pack: { sha256: hash, sizeBytes: pack.length, alone: true },
  };
  expect(await put(dev, 'upstream', report)).toMatchObject({ status: 422, body: { code: 'content-missing' } });
  expect((await put(dev, `content/${hash}`, pack)).status).toBe(204);
  expect((await fetched(dev)).status).toBe(404);
  const upstream = {
    commit: id('b'),
    ahead: 1,
    rewritten: false,
    packs: [{ sha256: hash, sizeBytes: pack.length }],
  };
  expect(await put(dev, 'upstream', report)).toEqual({ status: 200, body: { upstream } });
  const again = { ...report, commit: id('c'), pack: undefined };
  expect(await put(dev, 'upstream', again)).toEqual({ status: 200, body: { upstream } });
  expect(Buffer.from(await (await fetched(dev)).arrayBuffer())).toEqual(pack);
  expect((await fetched(await bench.begin('lab', 'tester'))).status).toBe(404);

  // The pack is kept, also for whoever needs it in a month.
  const { cell } = bench.testing;
  const directory = cell.directory.projectDir('lab');
  const content = new ContentStore(directory);
  await utimes(join(directory, content.pathOf(hash)), 0, 0);
  await cell.stores.use('lab', (store) => collectContent(store, directory, Date.now()));
  expect(content.has(hash)).toBe(true);

  // A later attempt is told the same, and is asked for nothing.
  await dev.report('fail', { failure: { code: 'worker-lost', message: 'Gone.' } });
  const claimed = await bench.claim('lab', dev.turn);
  expect(claimed.body['look']).toBeUndefined();
  expect(claimed.body).toMatchObject({ input: { repository: { base, upstream } } });
});

test('reports that are none are refused', async () => {
  await cloned();
  const dev = await bench.begin('lab', 'dev');
  for (const report of [
    {},
    { commit: 'main', rewritten: false },
    { commit: base },
    { noNews: { code: 'bad-weather', message: '' } },
    { commit: base, rewritten: false, shallow: Array.from({ length: 1_001 }, () => base) },
  ]) {
    expect(await put(dev, 'upstream', report)).toMatchObject({ status: 400, body: { code: 'invalid-request' } });
  }
  const noNews = { code: 'repository-refused', message: 'There is no repository.' };
  expect(await put(dev, 'upstream', { noNews })).toMatchObject({
    status: 200,
    body: { upstream: { commit: base, packs: [], noNews: { code: noNews.code } } },
  });
  // An agent without a clone has nothing to be told of.
  const tester = await bench.begin('lab', 'tester');
  expect(await put(tester, 'upstream', { noNews })).toEqual({ status: 200, body: {} });
});

describe('patches of a clone', () => {
  /** The agent's second turn, before which its repository was seen at another commit. */
  async function seenAt(commit: string): Promise<Begun> {
    await cloned();
    const dev = await bench.begin('lab', 'dev');
    await put(dev, 'upstream', { commit, ahead: 1, rewritten: false });
    return dev;
  }
  const publish = async (of: Begun, text: string, against?: string) => {
    const facts = await of.upload(text);
    return of.tool('artifacts.publish', { patch: true, ...facts, ...(against ? { base: against } : {}) });
  };
  const begun = (of: Begun, artifact: string) =>
    bench.post(`${bench.toolhost.runnerUrl}/tool/begin`, of.answer.toolToken, {
      project: 'lab',
      agent: of.answer.input.agent.id,
      turn: of.turn,
      tool: 'file.apply',
      input: { artifact },
      step: '9.0',
    });

  test('are against a commit at which the repository was seen, and no other', async () => {
    const dev = await seenAt(id('b'));
    expect(await publish(dev, 'one', id('c'))).toMatchObject({
      status: 422,
      body: { code: 'content-mismatch', detail: expect.stringContaining(`against the commit ${id('c')}, at which`) },
    });
    // A runner of before says nothing.
    for (const [text, against] of [
      ['one', base],
      ['two', id('b')],
      ['three', undefined],
    ] as const) {
      expect(await publish(dev, text, against)).toMatchObject({
        status: 200,
        body: { metadata: { name: 'dev.patch', base: against ?? base } },
      });
    }
  });

  test('are handed with what they are against, and with what they replace', async () => {
    const dev = await seenAt(id('b'));
    const ids: string[] = [];
    for (const [text, against] of [
      ['one', base],
      ['two', id('b')],
    ] as const) {
      const { body } = await publish(dev, text, against);
      ids.push((body['metadata'] as { id: string }).id);
    }
    const tester = await bench.begin('lab', 'tester');
    expect(await begun(tester, 'dev.patch')).toMatchObject({
      status: 200,
      body: { begun: true, artifact: { id: ids[1], base: id('b'), earlier: [{ id: ids[0], base, sizeBytes: 3 }] } },
    });
    // What it applies is content that it may fetch, without another tool.
    const content = await fetch(
      `${bench.toolhost.runnerUrl}/content/${createHash('sha256').update('one').digest('hex')}`,
      {
        headers: { authorization: `Bearer ${tester.answer.toolToken}` },
      },
    );
    expect([content.status, await content.text()]).toEqual([200, 'one']);
  });

  test('only an agent with a clone is offered to refresh it, and told why it is not', async () => {
    const dev = await seenAt(id('b'));
    const tester = await bench.begin('lab', 'tester');
    const offered = [dev, tester].map(({ answer }) => answer.input.tools.map(({ name }) => name));
    expect(offered.map((names) => names.includes('workspace.git.refresh'))).toEqual([true, false]);
    const refused = await bench.post(`${bench.toolhost.runnerUrl}/tool/begin`, tester.answer.toolToken, {
      project: 'lab',
      agent: 'tester',
      turn: tester.turn,
      tool: 'workspace.git.refresh',
      input: {},
      step: '1.0',
    });
    expect(refused).toMatchObject({
      body: { code: 'tool-not-allowed', detail: expect.stringContaining('its workspace is not a clone') },
    });
  });
});
