import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { defaultStorageLimits } from '@suzumio/contract/model/storage';
import { expireLease } from '@suzumio/store/turns/leases';
import { redactArtifact } from './redact-artifact.js';
import { type Begun, begun, type ToolhostBench, toolhostBench } from './toolhost-client.js';

let bench: ToolhostBench;
let project: string;

beforeEach(async () => {
  const agent = { ...defaultStorageLimits.agent, files: 1024 * 1024 + 100 };
  bench = await toolhostBench({}, {}, { storage: { ...defaultStorageLimits, agent } });
  project = await bench.testing.create();
});
afterEach(() => bench.close());

const notes = '# Levels\n\n“3.2 m” \t🌊 at noon\n';
const publish = (attempt: Begun, input: Record<string, unknown>, step?: string) =>
  attempt.tool('artifacts.publish', input, step === undefined ? {} : { step });
const artifacts = () => bench.testing.rows(project, 'SELECT name, sha256, size_bytes, workspace_path FROM artifacts');

describe('a text that is in no file', () => {
  test('is published as it is, charged to its agent, and read by the others', async () => {
    const ada = await bench.begin(project, 'ada');
    const { status, body } = await publish(ada, { name: 'levels.md', content: notes, description: 'At noon' });
    const sizeBytes = Buffer.byteLength(notes);
    const sha256 = createHash('sha256').update(notes).digest('hex');
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { metadata: { name: 'levels.md', sha256, sizeBytes } },
    });
    expect(await artifacts()).toEqual([{ name: 'levels.md', sha256, size_bytes: sizeBytes, workspace_path: null }]);
    expect(await bench.testing.rows(project, `SELECT bytes FROM stored_bytes WHERE kind = 'content'`)).toEqual([
      { bytes: 4096 },
      { bytes: 4096 },
    ]);
    const ben = await bench.begin(project, 'ben');
    expect((await ben.tool('artifacts.read', { name: 'levels.md' })).body['output']).toBe(notes);
  });

  test('is published beside null for a path, and a file beside null for a text', async () => {
    const ada = await bench.begin(project, 'ada');
    const text = { input: { name: 'levels.md', content: notes, path: null, patch: null } };
    expect((await publish(ada, text)).status).toBe(200);
    const sha256 = createHash('sha256').update(notes).digest('hex');
    // As a runner completes it, beside what its model wrote.
    const file = { input: { path: 'levels.md', content: null }, sha256, sizeBytes: Buffer.byteLength(notes) };
    expect((await publish(ada, file)).status).toBe(200);
    const odd = await publish(ada, { path: 'levels.md', hash: sha256 });
    expect(odd.body['detail']).toContain(
      'unknown field "hash"; the fields are: path, content, patch, name, description.',
    );
  });

  test('may be empty', async () => {
    const ada = await bench.begin(project, 'ada');
    expect((await publish(ada, { name: 'none', content: '' })).body).toMatchObject({ metadata: { sizeBytes: 0 } });
  });

  test('is published once, although a later attempt makes the call again', async () => {
    const ada = await bench.begin(project, 'ada');
    const first = await publish(ada, { name: 'levels.md', content: notes }, '1.0');
    bench.testing.setNow(Date.now() + 60_000);
    await bench.testing.write(project, (tx) => expireLease(tx, { turn: ada.turn, attempt: 1 }));
    const { body } = await bench.claim(project, ada.turn);
    const again = begun(bench, project, 'ada', ada.turn, body as never);
    expect(await publish(again, { name: 'levels.md', content: notes }, '1.0')).toEqual(first);
    expect(await artifacts()).toHaveLength(1);
    const other = await publish(again, { name: 'levels.md', content: 'another' }, '1.0');
    expect(other.body['code']).toBe('journal-mismatch');
  });

  const both = 'give one of: the path of a file or directory, the content and the name of a text, or patch';
  const facts = 'sha256, sizeBytes, kind, base are of files, and are left out with content';
  test.each([
    ['a path too', { path: 'levels.md', name: 'levels.md', content: notes }, both],
    ['neither text nor path', { name: 'levels.md' }, both],
    ['no name', { content: notes }, 'a text needs a name, such as summary.md'],
    ['a path as its name', { content: notes, name: '../levels.md' }, 'name: a file name without slashes'],
    ['half a character in its name', { content: notes, name: 'a\ud800' }, 'name: a file name of whole characters'],
    ['NUL', { content: 'a\0b', name: 'x' }, 'content: no NUL, and no halves of characters'],
    ['half a character', { content: 'a\ud83c', name: 'x' }, 'content: no NUL, and no halves of characters'],
    ['one byte too many', { content: 'ä'.repeat(512 * 1024) + 'b', name: 'x' }, 'content: at most 1048576 bytes'],
    ['the hash of an upload', { content: notes, name: 'x', sha256: 'a'.repeat(64) }, facts],
    ['the kind of an upload', { content: notes, name: 'x', kind: 'directory' }, facts],
  ])('is refused with %s', async (_what, input, reason) => {
    const ada = await bench.begin(project, 'ada');
    const { status, body } = await publish(ada, input);
    expect({ status, code: body['code'] }).toEqual({ status: 422, code: 'tool-input-invalid' });
    expect(body['detail']).toContain(reason);
    expect(await artifacts()).toEqual([]);
  });

  test('is refused beyond what its agent may store, and nothing of it stays', async () => {
    const ada = await bench.begin(project, 'ada');
    const long = 'ä'.repeat(512 * 1024);
    expect((await publish(ada, { name: 'long', content: long })).status).toBe(200);
    const { status, body } = await publish(ada, { name: 'more', content: 'x'.repeat(200) });
    expect({ status, code: body['code'] }).toEqual({ status: 403, code: 'quota-exceeded' });
    expect(await artifacts()).toHaveLength(1);
  });
});

describe('a redacted text', () => {
  /** The files of the project in which a text stands. */
  async function filesWith(text: string): Promise<string[]> {
    const root = bench.testing.cell.directory.projectDir(project);
    const files = (await readdir(root, { recursive: true, withFileTypes: true })).filter((file) => file.isFile());
    const holding = files.map(async ({ parentPath, name }) =>
      (await readFile(join(parentPath, name))).includes(text) ? [name] : [],
    );
    return (await Promise.all(holding)).flat();
  }

  test.each([
    ['short', 'hunter2'],
    ['of some lines', 'The password of the gauge:\n\t"hunter2"\n'],
    ['too long to be kept whole', `The password of the gauge is "hunter2".\n${'North\n'.repeat(5_000)}`],
  ])('stands in no record of the call that published it, where it is %s', async (_what, content) => {
    const ada = await bench.begin(project, 'ada');
    const { body } = await publish(ada, { name: 'key.txt', content }, '1.0');
    await publish(ada, { name: 'other.txt', content: 'what others wrote' }, '1.1');
    await ada.report('complete', { output: { text: '' } });
    expect(await filesWith('hunter2')).not.toEqual([]);
    // What was stored may be referred to for as long as an attempt runs that began before.
    bench.testing.setNow(Date.now() + 1_000);
    expect((await redactArtifact(bench, project, body['metadata'] as { id: string })).left).toEqual([]);
    expect(await filesWith('hunter2')).toEqual([]);
    const inputs = await bench.testing.rows<{ input: string }>(project, 'SELECT input_json AS input FROM tool_calls');
    expect(inputs.map(({ input }) => input)).toEqual([
      expect.stringContaining('[redacted]'),
      expect.stringContaining('what others wrote'),
    ]);
  });
});
