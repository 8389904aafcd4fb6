import { createHash } from 'node:crypto';
import { readdir, readFile, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { imageUrl, maxImageBytes, maxImages } from '@suzumio/protocol/images';
import { stepHeader } from '@suzumio/protocol/model-chat';
import { collectContent } from '@suzumio/store/content/collect-content';
import { ContentStore } from '@suzumio/store/content/content-store';
import { publishArtifact } from '@suzumio/store/content/publish-artifact';
import { expireLease } from '@suzumio/store/turns/leases';
import { noon } from '../../../../test/support/cell.js';
import { type Behaviour, type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { pictures } from '../../../../test/support/pictures.js';
import { allowing, type Answer, type Begun, begun, type ToolhostBench, toolhostBench } from '../toolhost-client.js';
import { redactArtifact } from '../redact-artifact.js';

let server: ModelServer;
let bench: ToolhostBench;
let behaviour: Behaviour;

beforeEach(async () => {
  behaviour = { text: 'Yes.' };
  server = await startModelServer(() => behaviour);
  const allowed = allowing({ baseURL: server.baseURL, ownPrices: true });
  bench = await toolhostBench(allowed, {}, { startMs: noon });
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

const project = 'gallery';
const yaml = (model = 'seeing', extra = '') => `
name: ${project}
task: Look.
tools: { toolpacks: [files] }
${extra}
backend:
  runner:
    mode: ai
    model: ${model}
    models:
      providers: { here: { type: openai-compatible, baseURL: "${server.baseURL}" } }
      presets:
        seeing: { provider: here, model: one, vision: true, maxOutputTokens: 100, price: { input: 1000, output: 0 } }
        newer: { provider: here, model: one, api: responses, vision: true, price: { input: 0, output: 0 } }
        known: { provider: here, model: openai/gpt-4o, price: { input: 0, output: 0 } }
        unknown: { provider: here, model: some-model, price: { input: 0, output: 0 } }
        blind: { provider: here, model: gpt-4o, vision: false, price: { input: 0, output: 0 } }
        either: { model-list: [seeing, blind] }
agents:
  ada: { role: viewer, prompt: Look., tools: ["*"] }
  ben: { role: viewer, prompt: Look., tools: [file.read] }
`;

const picture = pictures.png(640, 480);
const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const facts = (bytes: Buffer, more = {}) => ({
  sha256: sha256Of(bytes),
  mediaType: 'image/png',
  width: 640,
  height: 480,
  sizeBytes: bytes.length,
  ...more,
});
const dataUrl = (bytes: Buffer, mediaType = 'image/png') => `data:${mediaType};base64,${bytes.toString('base64')}`;

async function started(text = yaml(), agent = 'ada'): Promise<Begun> {
  await bench.testing.create(text);
  return bench.begin(project, agent);
}

async function ask(attempt: Begun, step: string, content: unknown, more: object = {}): Promise<Answer> {
  const response = await attempt.ask({ messages: [{ role: 'user', content }], ...more }, { [stepHeader]: step });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const image = (url: string) => ({ type: 'image_url', image_url: { url } });
const shown = (...hashes: string[]) => [
  { type: 'text', text: 'Look:' },
  ...hashes.map((hash) => image(imageUrl(hash))),
];

/** Has the model ask for a call, and makes it. */
async function called(attempt: Begun, step: string, tool: string, input: object): Promise<Answer> {
  behaviour = { calls: [{ name: tool.replace('.', '_'), arguments: input }] };
  await ask(attempt, step, `Call ${tool}.`);
  behaviour = { text: 'Yes.' };
  return attempt.tool(tool, input, { step: `${step}.0` });
}

/** Publishes bytes as a person does. */
async function published(bytes: Buffer, name = 'plot.png'): Promise<string> {
  return bench.testing.store(project, async (store) => {
    const content = new ContentStore(bench.testing.cell.directory.projectDir(project));
    const { sha256, sizeBytes } = await store.content.put(content, [bytes], { owner: 'user', kind: 'uploads' });
    const artifact = { creator: 'user', name, path: content.pathOf(sha256), sha256, sizeBytes };
    return (await store.write((tx) => publishArtifact(tx, artifact))).id;
  });
}

const sentParts = (number = -1) => server.requests.at(number)?.body.messages.at(-1)?.content;

describe('artifacts.read of an image', () => {
  test('shows it to a model that sees: the provider gets its bytes, and no row has them', async () => {
    const ada = await started();
    await published(picture);
    const { body } = await called(ada, '0', 'artifacts.read', { name: 'plot.png' });
    expect(body).toMatchObject({
      output: expect.stringMatching(/^plot\.png: \[image png 640x480, [\d.]+ (kB|bytes)\]$/),
      image: facts(picture),
    });
    const answer = await ask(ada, '1', shown(sha256Of(picture)));
    expect(answer.status).toBe(200);
    expect(sentParts()).toEqual([{ type: 'text', text: 'Look:' }, image(dataUrl(picture))]);
    const base64 = picture.toString('base64').slice(0, 40);
    const root = bench.testing.cell.directory.projectDir(project);
    for (const name of (await readdir(root)).filter((file) => file.startsWith('project.db'))) {
      expect((await readFile(join(root, name))).includes(base64)).toBe(false);
    }
  });

  test('shows it in the Responses format', async () => {
    const ada = await started(yaml('newer'));
    await published(picture);
    await called(ada, '0', 'artifacts.read', { name: 'plot.png' });
    await ask(ada, '1', shown(sha256Of(picture)));
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain(
      JSON.stringify({ type: 'input_image', image_url: dataUrl(picture), detail: 'auto' }),
    );
  });

  test.each([
    ['one that is known to see', 'known', 200],
    ['one that nothing is known of', 'unknown', 422],
    ['one that is said to see nothing', 'blind', 422],
    ['a list with one that sees nothing', 'either', 422],
  ])('is answered by its preset: %s', async (_what, model, status) => {
    const ada = await started(yaml(model));
    expect(ada.answer.input.runner).toMatchObject({ vision: status === 200 });
    await published(picture);
    const answer = await called(ada, '0', 'artifacts.read', { name: 'plot.png' });
    expect(answer.status).toBe(status);
    if (status === 200) return;
    expect(answer.body['code']).toBe('model-cannot-see');
    expect(answer.body['detail']).toMatch(
      /^"plot\.png" is an image png 640x480, .* With "to" it is written into your workspace\.$/,
    );
  });

  test('with "to" is as before', async () => {
    const ada = await started(yaml('blind'));
    await published(picture);
    const { body } = await called(ada, '0', 'artifacts.read', { name: 'plot.png', to: 'in.png' });
    expect(body).toMatchObject({ metadata: { sha256: sha256Of(picture), to: 'in.png' } });
    expect(body).not.toHaveProperty('image');
  });

  test.each([
    ['is cut off', picture.subarray(0, -8), 'image-broken'],
    ['has too many pixels', pictures.jpeg(9_000, 10), 'image-too-large'],
    ['has too many bytes', Buffer.concat([picture, Buffer.alloc(maxImageBytes)]), 'image-too-large'],
    ['is of another kind', Buffer.from('BM\0\0\0\0'), 'artifact-not-text'],
  ])('is refused where it %s', async (_what, bytes, code) => {
    const ada = await started();
    await published(bytes);
    const answer = await called(ada, '0', 'artifacts.read', { name: 'plot.png' });
    expect(answer).toMatchObject({ status: 422, body: { code } });
  });
});

describe('a question', () => {
  test('may show what a call of its own turn has shown, and nothing else', async () => {
    const ada = await started();
    await published(picture);
    const other = await published(pictures.png(10, 10), 'other.png');
    await called(ada, '0', 'artifacts.read', { name: 'plot.png' });
    const refused = await ask(ada, '1', shown(sha256Of(picture), sha256Of(pictures.png(10, 10))));
    expect(refused).toMatchObject({ status: 422, body: { code: 'content-missing' } });
    expect(other).toMatch(/^art_/);
    const ben = await bench.begin(project, 'ben');
    expect(await ask(ben, '0', shown(sha256Of(picture)))).toMatchObject({ body: { code: 'content-missing' } });
    expect(server.requests).toHaveLength(1);
  });

  test('is the same when it is repeated, in a later attempt, too', async () => {
    const ada = await started();
    await published(picture);
    await called(ada, '0', 'artifacts.read', { name: 'plot.png' });
    const first = await ask(ada, '1', shown(sha256Of(picture)));
    bench.testing.setNow(noon + 60_000);
    await bench.testing.write(project, (tx) => expireLease(tx, { turn: ada.turn, attempt: 1 }));
    const { body } = await bench.claim(project, ada.turn);
    const again = begun(bench, project, 'ada', ada.turn, body as never);
    expect((await again.tool('artifacts.read', { name: 'plot.png' }, { step: '0.0' })).body['image']).toEqual(
      facts(picture),
    );
    expect(await ask(again, '1', shown(sha256Of(picture)))).toEqual(first);
    expect(server.requests).toHaveLength(2);
  });

  test('reserves what its images may cost, and is refused where a budget has no room for them', async () => {
    // A thousandth of a dollar a token: 768 for the image, beside some hundred for the rest.
    const ada = await started(yaml('seeing', 'budget: { usd: 0.7 }'));
    await published(picture);
    behaviour = {
      calls: [{ name: 'artifacts_read', arguments: { name: 'plot.png' } }],
      usage: { input: 1, output: 1 },
    };
    await ask(ada, '0', 'Call artifacts.read.');
    await ada.tool('artifacts.read', { name: 'plot.png' }, { step: '0.0' });
    behaviour = { silent: true };
    expect(await ask(ada, '1', shown(sha256Of(picture)))).toMatchObject({
      status: 402,
      body: { code: 'budget-reached' },
    });
    expect(server.requests).toHaveLength(1);
  });

  test('counts inline images by their size, and not by their length', async () => {
    const ada = await started(yaml('seeing', 'budget: { usd: 10 }'));
    // As text these were a hundred thousand tokens.
    const noise = Buffer.concat([pictures.gif(20, 20), Buffer.alloc(300_000, 1)]);
    expect((await ask(ada, '0', [image(dataUrl(noise, 'image/gif'))])).status).toBe(200);
  });

  test.each([
    ['no image', dataUrl(Buffer.from('<svg/>')), 'it is no PNG, JPEG, GIF or WebP'],
    ['another kind than it says', dataUrl(pictures.gif(4, 4)), 'its bytes are image/gif, and it is named image/png'],
    ['an image that is cut off', dataUrl(picture.subarray(0, 200)), 'its end is missing'],
    ['too many pixels', dataUrl(pictures.png(8_001, 1)), '8001x1 pixels'],
  ])('is refused where an inline image is %s', async (_what, url, why) => {
    const ada = await started();
    const { status, body } = await ask(ada, '0', [image(url)]);
    expect({ status, code: body['code'] }).toEqual({ status: 400, code: 'invalid-request' });
    expect(body['detail']).toContain(`The image in messages[0] cannot be shown: `);
    expect(body['detail']).toContain(why);
    expect(server.requests).toHaveLength(0);
  });

  test('is refused with more images than one may show', async () => {
    const ada = await started();
    const many = Array.from({ length: maxImages + 1 }, () => image(dataUrl(pictures.png(2, 2))));
    expect(await ask(ada, '0', many)).toMatchObject({ status: 400, body: { code: 'invalid-request' } });
    expect((await ask(ada, '0', many.slice(1))).status).toBe(200);
  });

  test('tells a model that sees nothing in words, where it may be asked all the same', async () => {
    const ada = await started(yaml('either'));
    behaviour = { status: 503 };
    const content = [{ type: 'text', text: 'Look:' }, image(dataUrl(picture))];
    await ask(ada, '0', content);
    expect(server.requests.map(({ body }) => body.messages.at(-1)?.content)).toEqual([
      content,
      'Look:\n[image: your model sees no images]',
    ]);
  });
});

describe('an image of the workspace', () => {
  const post = (of: Begun, route: 'begin' | 'end', body: object) =>
    bench.post(`${bench.toolhost.runnerUrl}/tool/${route}`, of.answer.toolToken, {
      project,
      agent: of.answer.input.agent.id,
      turn: of.turn,
      step: '0.0',
      ...body,
    });
  const put = (of: Begun, bytes: Buffer) =>
    bench.put(`${bench.toolhost.runnerUrl}/content/${sha256Of(bytes)}`, of.answer.toolToken, bytes);

  async function reading(agent = 'ben'): Promise<Begun> {
    const of = await started(yaml(), agent);
    behaviour = { calls: [{ name: 'file_read', arguments: { path: 'plot.png' } }] };
    await ask(of, '0', 'Call file.read.');
    behaviour = { text: 'Yes.' };
    expect(await post(of, 'begin', { tool: 'file.read', input: { path: 'plot.png' } })).toMatchObject({ status: 200 });
    return of;
  }

  test('is uploaded by its runner, and is what its bytes say, whatever the runner says', async () => {
    const ben = await reading();
    expect((await put(ben, picture)).status).toBe(204);
    const told = {
      output: 'plot.png',
      image: facts(picture, { width: 1, height: 1, mediaType: 'image/gif', sizeBytes: 1 }),
    };
    const ended = await post(ben, 'end', { result: told });
    expect(ended).toEqual({ status: 200, body: { result: { output: 'plot.png', image: facts(picture) } } });
    expect(await post(ben, 'end', { result: told })).toEqual(ended);
    await ask(ben, '1', shown(sha256Of(picture)));
    expect(sentParts()).toEqual([{ type: 'text', text: 'Look:' }, image(dataUrl(picture))]);
  });

  test('is refused where it was not uploaded, or is none', async () => {
    const ben = await reading();
    const end = (bytes: Buffer) => post(ben, 'end', { result: { output: '', image: facts(bytes) } });
    expect(await end(picture)).toMatchObject({ status: 422, body: { code: 'content-missing' } });
    const text = Buffer.from('no image');
    await put(ben, text);
    expect(await end(text)).toMatchObject({ status: 422, body: { code: 'content-missing' } });
  });

  test('is not uploaded by agents without file.read, and no larger than is shown without artifacts.publish', async () => {
    const ben = await reading();
    expect((await put(ben, Buffer.alloc(maxImageBytes + 1))).status).toBe(403);
    await bench.testing.create(yaml().replace('name: gallery', 'name: closed').replace('[file.read]', '[file.write]'));
    const closed = await bench.begin('closed', 'ben');
    expect((await put(closed, picture)).status).toBe(403);
  });

  test('is kept until its turn has completed, and collected after that', async () => {
    const ben = await reading();
    await put(ben, picture);
    await post(ben, 'end', { result: { output: 'plot.png', image: facts(picture) } });
    const directory = bench.testing.cell.directory.projectDir(project);
    const content = new ContentStore(directory);
    const long = new Date(noon - 3 * 86_400_000);
    const collect = async () => {
      await utimes(join(directory, content.pathOf(sha256Of(picture))), long, long);
      await bench.testing.store(project, (store) => collectContent(store, directory, noon));
      return content.has(sha256Of(picture));
    };
    expect(await collect()).toBe(true);
    await ben.report('complete', { output: { text: '' } });
    expect(await collect()).toBe(false);
  });
});

describe('an image that is redacted', () => {
  test('is shown no more, also where it was read from the workspace', async () => {
    const ada = await started();
    const id = await published(picture);
    await called(ada, '0', 'artifacts.read', { name: 'plot.png' });
    await ask(ada, '1', shown(sha256Of(picture)));
    const ben = await bench.begin(project, 'ben');
    behaviour = { calls: [{ name: 'file_read', arguments: { path: 'copy.png' } }] };
    await ask(ben, '0', 'Call file.read.');
    behaviour = { text: 'Yes.' };
    const step = { project, agent: 'ben', turn: ben.turn, step: '0.0' };
    const at = (route: string) => `${bench.toolhost.runnerUrl}/tool/${route}`;
    await bench.post(at('begin'), ben.answer.toolToken, { ...step, tool: 'file.read', input: { path: 'copy.png' } });
    await bench.post(at('end'), ben.answer.toolToken, {
      ...step,
      result: { output: 'copy.png: [image]', image: facts(picture) },
    });
    await redactArtifact(bench, project, { id });
    expect(await bench.testing.rows(project, 'SELECT step FROM tool_calls WHERE image_json IS NOT NULL')).toEqual([]);
    const results = await bench.testing.rows<{ result: string }>(
      project,
      `SELECT result_json AS result FROM turn_steps WHERE key = '0.0'`,
    );
    expect(results.map(({ result }) => JSON.parse(result) as unknown)).toEqual([
      expect.objectContaining({ ok: false, code: 'artifact-redacted' }),
      { ok: true, response: { output: expect.stringContaining('This artifact was redacted') } },
    ]);
    // Both begin anew, and are answered from the journal as far as they came.
    for (const before of [ada, ben]) {
      const { body } = await bench.claim(project, before.turn);
      const again = begun(bench, project, before.answer.input.agent.id, before.turn, body as never);
      expect(await ask(again, '1', shown(sha256Of(picture)))).toMatchObject({ body: { code: 'content-missing' } });
    }
  });

  test('that is gone when it is to be sent is no fault of its provider', async () => {
    const ada = await started();
    await published(picture);
    await called(ada, '0', 'artifacts.read', { name: 'plot.png' });
    const directory = bench.testing.cell.directory.projectDir(project);
    await rm(join(directory, new ContentStore(directory).pathOf(sha256Of(picture))));
    expect(await ask(ada, '1', shown(sha256Of(picture)))).toMatchObject({ body: { code: 'content-missing' } });
    expect((await ask(ada, '2', 'Are you there?')).status).toBe(200);
  });
});
