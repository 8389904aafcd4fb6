import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { maxDirectoryEntries, maxManifestBytes } from '@suzumio/protocol/artifacts';
import { ContentStore } from '@suzumio/store/content/content-store';
import { expireLease } from '@suzumio/store/turns/leases';
import { redactArtifact } from './redact-artifact.js';
import { type Begun, begun, type ToolhostBench, toolhostBench } from './toolhost-client.js';

let bench: ToolhostBench;
let project: string;

beforeEach(async () => {
  bench = await toolhostBench();
  project = await bench.testing.create();
});
afterEach(() => bench.close());

const sha256Of = (text: string) => createHash('sha256').update(text).digest('hex');
const directory = (path: string) => ({ kind: 'directory', path });
const file = (path: string, text = 'level', more: Record<string, unknown> = {}) => ({
  kind: 'file',
  path,
  sha256: sha256Of(text),
  sizeBytes: text.length,
  executable: false,
  ...more,
});

/** Publishes what somebody says is the list of a directory's files. */
async function publishList(attempt: Begun, list: unknown, input: Record<string, unknown> = {}) {
  const { sha256 } = await attempt.upload(typeof list === 'string' ? list : JSON.stringify(list));
  return attempt.tool('artifacts.publish', { path: 'site', sha256, kind: 'directory', ...input });
}

const listed = (...entries: unknown[]) => ({ version: 1, entries });

async function publishSite(attempt: Begun) {
  await attempt.upload('level');
  await attempt.upload('3.2 m\n');
  const list = listed(directory('img'), file('img/a'), file('index.md', '3.2 m\n'));
  const published = await publishList(attempt, list);
  return { published, list: JSON.stringify(list) };
}

describe('a directory', () => {
  test('is published with all that is in it', async () => {
    const attempt = await bench.begin(project, 'ada');
    const { published, list } = await publishSite(attempt);
    expect(published.body).toMatchObject({
      output: expect.stringMatching(/^site \(art_/),
      metadata: { name: 'site', sizeBytes: 11, files: 2, sha256: sha256Of(list) },
    });
    expect(await bench.testing.rows(project, 'SELECT kind, files, size_bytes, sha256 FROM artifacts')).toEqual([
      { kind: 'directory', files: 2, size_bytes: 11, sha256: sha256Of(list) },
    ]);
    const shown = (await attempt.tool('artifacts.list', {})).body['output'];
    expect(shown).toContain('site  directory of 2 files, 11 bytes  by ada');
  });

  test('may be empty', async () => {
    const attempt = await bench.begin(project, 'ada');
    expect((await publishList(attempt, listed())).status).toBe(200);
    const answer = await attempt.tool('artifacts.read', { name: 'site' });
    expect(answer.body['output']).toBe('The directory is empty.');
  });

  const long = 'x'.repeat(256);
  const forged: [string, unknown][] = [
    ['no JSON', 'entries: []'],
    ['another document', { files: [] }],
    ['another version', { version: 2, entries: [] }],
    ['a field that is not known', { ...listed(), owner: 'root' }],
    ['a way up', listed(directory('..'), file('../x'))],
    ['a way up in the middle', listed(directory('a'), file('a/../../x'))],
    ['an absolute path', listed(file('/etc/passwd'))],
    ['an empty part', listed(directory('a'), file('a//x'))],
    ['a line break', listed(file('a\nb'))],
    ['NUL', listed(file('a\0b'))],
    ['a backslash', listed(file('..\\x'))],
    ['a direction mark', listed(file('\u202ecod.exe'))],
    ['half a character', '{"version":1,"entries":[{"kind":"directory","path":"\\ud800"}]}'],
    ['a name that is too long', listed(file(long))],
    ['a link', listed({ kind: 'link', path: 'a', target: '/etc/passwd' })],
    ['a path twice', listed(file('a'), file('a'))],
    ['another order', listed(file('b'), file('a'))],
    ['a file that is a directory too', listed(file('a'), file('a/b'))],
    ['a directory that is not listed', listed(file('a/b'))],
    ['a size below zero', listed(file('a', 'level', { sizeBytes: -1 }))],
    ['more bytes than may be', listed(file('a', 'level', { sizeBytes: 2 ** 31 }))],
    ['a mode', listed(file('a', 'level', { mode: 0o4755 }))],
    ['100,000 entries', listed(...Array.from({ length: 100_000 }, (_, index) => directory(String(1e6 + index))))],
    [
      'one entry too many',
      listed(...Array.from({ length: maxDirectoryEntries + 1 }, (_, at) => directory(String(1e6 + at)))),
    ],
    ['too many bytes', JSON.stringify(listed()).padEnd(maxManifestBytes + 1)],
  ];

  test.each(forged)('is refused where the list that was uploaded has %s', async (_what, list) => {
    const attempt = await bench.begin(project, 'ada');
    await attempt.upload('level');
    const { status, body } = await publishList(attempt, list);
    expect({ status, code: body['code'] }).toEqual({ status: 422, code: 'artifact-directory-invalid' });
    expect(await bench.testing.rows(project, 'SELECT 1 AS one FROM artifacts')).toEqual([]);
    expect(await bench.testing.rows(project, 'SELECT 1 AS one FROM directory_contents')).toEqual([]);
  });

  test('is refused before its list is parsed, where that has more members than any has', async () => {
    const attempt = await bench.begin(project, 'ada');
    // Parsed, it takes half a gigabyte.
    const { body } = await publishList(attempt, '['.repeat(maxManifestBytes / 2) + ']'.repeat(maxManifestBytes / 2));
    expect(body).toMatchObject({
      code: 'artifact-directory-invalid',
      detail:
        "What was uploaded is not the list of a directory's files: its lists and objects have more than 80000 members.",
    });
  });

  test('is refused without its list, without a file, with another size, and where a file is said to be one', async () => {
    const attempt = await bench.begin(project, 'ada');
    const code = async (input: Record<string, unknown>) =>
      (await attempt.tool('artifacts.publish', { path: 'site', kind: 'directory', ...input })).body['code'];
    expect(await code({})).toBe('content-missing');
    expect(await code({ sha256: sha256Of('never sent') })).toBe('content-missing');
    expect((await publishList(attempt, listed(file('a')))).body['code']).toBe('content-missing');
    await attempt.upload('level');
    expect((await publishList(attempt, listed(file('a', 'level', { sizeBytes: 6 })))).body['code']).toBe(
      'content-mismatch',
    );
    expect((await publishList(attempt, listed(file('a')), { sizeBytes: 6 })).body['code']).toBe('content-mismatch');
    const level = await attempt.upload('level');
    expect(await code(level)).toBe('artifact-directory-invalid');
  });

  test('cannot hold what another project has', async () => {
    const other = await bench.testing.create(
      'name: other\ntask: Work.\nbackend: { runner: { mode: mock } }\nagents:\n  ada: { role: writer, prompt: Write., tools: ["*"] }\n',
    );
    const there = await bench.begin(other, 'ada');
    await there.tool('artifacts.publish', { path: 'secret', ...(await there.upload('secret of another project')) });
    const attempt = await bench.begin(project, 'ada');
    const { body } = await publishList(attempt, listed(file('a', 'secret of another project')));
    expect(body['code']).toBe('content-missing');
  });

  test('is the same call although it was read again, or is a file by then', async () => {
    const attempt = await bench.begin(project, 'ada');
    const list = await attempt.upload(JSON.stringify(listed()));
    const level = await attempt.upload('level');
    const first = await attempt.tool(
      'artifacts.publish',
      { path: 'site', kind: 'directory', sha256: list.sha256, sizeBytes: 0 },
      { step: '0.0' },
    );
    expect(first.status).toBe(200);
    expect(await attempt.tool('artifacts.publish', { path: 'site', ...level }, { step: '0.0' })).toEqual(first);
  });
});

describe('artifacts.read', () => {
  test('lists what is in a directory, and reads one file of it', async () => {
    const attempt = await bench.begin(project, 'ada');
    await publishSite(attempt);
    const read = async (input: Record<string, unknown>) =>
      (await attempt.tool('artifacts.read', { name: 'site', ...input })).body;
    expect(await read({})).toMatchObject({
      output: 'img/\nimg/a  5 bytes\nindex.md  6 bytes',
      metadata: { truncated: false, sizeBytes: 11 },
    });
    expect(await read({ maxBytes: 25 })).toMatchObject({
      output: 'img/\nimg/a  5 bytes\n[Entries 0 to 2 of 3; go on with offset 2.]',
      metadata: { truncated: true },
    });
    expect(await read({ offset: 2 })).toMatchObject({
      output: 'index.md  6 bytes\n[Entries 2 to 3 of 3.]',
      metadata: { truncated: false },
    });
    expect(await read({ path: 'index.md' })).toMatchObject({ output: '3.2 m\n' });
    for (const path of ['img', 'none', '../index.md', '/etc/passwd']) {
      expect(await read({ path })).toMatchObject({ code: 'artifact-entry-unknown' });
    }
    await attempt.tool('artifacts.publish', { path: 'level.md', ...(await attempt.upload('level')) });
    const answer = await attempt.tool('artifacts.read', { name: 'level.md', path: 'level.md' });
    expect(answer.body['code']).toBe('artifact-entry-unknown');
  });

  test('reads a long text to its end, by what each answer says, and cuts no character', async () => {
    const attempt = await bench.begin(project, 'ada');
    const text = JSON.stringify(Array.from({ length: 9_000 }, () => 'é日😀'));
    await attempt.tool('artifacts.publish', { path: 'long.json', ...(await attempt.upload(text)) });
    let [whole, offset] = ['', 0];
    for (let [isLast, call] = [false, 0]; !isLast; call += 1) {
      const { body } = await attempt.tool('artifacts.read', { name: 'long.json', offset }, { step: `1.${call}` });
      expect(body).toHaveProperty('output');
      const output = String(body['output']);
      const end = output.lastIndexOf('\n[');
      const [, from, to, total, next] =
        /^\n\[Bytes (\d+) to (\d+) of (\d+)(?:; go on with offset (\d+))?\.\]$/.exec(output.slice(end)) ?? [];
      expect(Number(from)).toBe(offset);
      expect(Number(total)).toBe(Buffer.byteLength(text));
      expect(Buffer.byteLength(output.slice(0, end))).toBe(Number(to) - Number(from));
      whole += output.slice(0, end);
      offset = Number(next);
      isLast = next === undefined;
    }
    expect(whole).toBe(text);
  });

  test('with "to" names what is to be written; a repeated call names the same, whatever was published since', async () => {
    const first = await bench.begin(project, 'ada');
    const { list } = await publishSite(first);
    const call = (attempt: Begun) =>
      attempt.tool('artifacts.read', { name: 'site', to: './in//site/' }, { step: '1.0' });
    const answer = await call(first);
    expect(answer.body['metadata']).toMatchObject({ kind: 'directory', sha256: sha256Of(list), to: 'in/site' });
    await first.tool('artifacts.publish', { path: 'site', ...(await first.upload('a file now')) });
    bench.testing.setNow(Date.now() + 60_000);
    await bench.testing.write(project, (tx) => expireLease(tx, { turn: first.turn, attempt: 1 }));
    const { body } = await bench.claim(project, first.turn);
    const second = begun(bench, project, 'ada', first.turn, body as never);
    expect(await call(second)).toEqual(answer);
    const one = await second.tool(
      'artifacts.read',
      {
        id: (answer.body['metadata'] as { id: string }).id,
        path: 'img/a',
        to: 'a',
      },
      { step: '2.0' },
    );
    expect(one.body['metadata']).toMatchObject({ kind: 'file', sha256: sha256Of('level'), sizeBytes: 5 });
  });

  test.each(['../x', '/etc/x', 'a/../../x', '.', '', 'a\0b'])('refuses to write to %j', async (to) => {
    const attempt = await bench.begin(project, 'ada');
    await publishSite(attempt);
    const { body } = await attempt.tool('artifacts.read', { name: 'site', to });
    expect(body['code']).toBe(to === '' ? 'tool-input-invalid' : 'artifact-path-invalid');
  });
});

describe('the content of artifacts', () => {
  const get = async (token: string | undefined, sha256: string, method = 'GET') => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(`${bench.toolhost.runnerUrl}/content/${sha256}`, { method, headers });
    const text = await response.text();
    return response.ok
      ? text
      : { status: response.status, code: text === '' ? '' : (JSON.parse(text) as { code: string }).code };
  };

  test('is given to the turns of its project: a file, the list of a directory, and each file in it', async () => {
    const attempt = await bench.begin(project, 'ada');
    const { list } = await publishSite(attempt);
    await attempt.tool('artifacts.publish', { path: 'a', ...(await attempt.upload('alone')) });
    const ben = await bench.begin(project, 'ben');
    for (const text of [list, 'level', '3.2 m\n', 'alone'])
      expect(await get(ben.answer.toolToken, sha256Of(text))).toBe(text);
    const head = await fetch(`${bench.toolhost.runnerUrl}/content/${sha256Of('alone')}`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${ben.answer.toolToken}` },
    });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '5']);
  });

  test('is not what was uploaded and never published, nor what other projects have', async () => {
    const attempt = await bench.begin(project, 'ada');
    await attempt.upload('a workspace, or a draft');
    expect(await get(attempt.answer.toolToken, sha256Of('a workspace, or a draft'))).toEqual({
      status: 404,
      code: 'not-found',
    });
    const other = await bench.testing.create(
      'name: other\ntask: Work.\nbackend: { runner: { mode: mock } }\nagents:\n  ada: { role: writer, prompt: Write., tools: ["*"] }\n',
    );
    const there = await bench.begin(other, 'ada');
    await there.tool('artifacts.publish', { path: 'secret', ...(await there.upload('secret')) });
    expect(await get(there.answer.toolToken, sha256Of('secret'))).toBe('secret');
    expect(await get(attempt.answer.toolToken, sha256Of('secret'))).toEqual({ status: 404, code: 'not-found' });
    for (const name of ['..%2f..%2fproject.db', 'x', '0'.repeat(63)]) {
      expect(await get(attempt.answer.toolToken, name)).toMatchObject({ status: 404 });
    }
  });

  test('is not for agents that may not read artifacts, and that leaves a row', async () => {
    const limited = await bench.testing.create(`
name: limited
task: Work.
backend: { runner: { mode: mock } }
agents:
  ada: { role: writer, prompt: Write., tools: [artifacts.publish] }
`);
    const attempt = await bench.begin(limited, 'ada');
    await attempt.tool('artifacts.publish', { path: 'a', ...(await attempt.upload('alone')) });
    const refused = await get(attempt.answer.toolToken, sha256Of('alone'));
    expect(refused).toEqual({ status: 403, code: 'tool-not-allowed' });
    expect(
      await bench.testing.rows(limited, `SELECT tool, error_code FROM tool_calls WHERE status = 'refused'`),
    ).toEqual([{ tool: 'artifacts.read', error_code: 'tool-not-allowed' }]);
  });

  test('is not taken from agents that may not publish, and that leaves a row', async () => {
    const reader = await bench.testing.create(`
name: reader
task: Work.
backend: { runner: { mode: mock } }
agents:
  ada: { role: reader, prompt: Read., tools: [artifacts.read] }
`);
    const attempt = await bench.begin(reader, 'ada');
    const put = await fetch(`${bench.toolhost.runnerUrl}/content/${sha256Of('mine')}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${attempt.answer.toolToken}` },
      body: 'mine',
    });
    expect([put.status, await put.json()]).toMatchObject([403, { code: 'tool-not-allowed' }]);
    expect(
      await bench.testing.rows(reader, `SELECT tool, error_code FROM tool_calls WHERE status = 'refused'`),
    ).toEqual([{ tool: 'artifacts.publish', error_code: 'tool-not-allowed' }]);
    expect(new ContentStore(bench.testing.cell.directory.projectDir(reader)).has(sha256Of('mine'))).toBe(false);
  });

  test('is not for who has no token, another kind of token, or one of an attempt that is over', async () => {
    const attempt = await bench.begin(project, 'ada');
    await attempt.tool('artifacts.publish', { path: 'a', ...(await attempt.upload('alone')) });
    const sha256 = sha256Of('alone');
    expect(await get(undefined, sha256)).toMatchObject({ status: 401 });
    expect(await get(attempt.answer.leaseToken, sha256)).toMatchObject({ status: 401 });
    await attempt.report('complete', { output: { text: '' } });
    expect(await get(attempt.answer.toolToken, sha256)).toMatchObject({ status: 401 });
  });
});

describe('an artifact that is redacted', () => {
  test('is not read any more, also not by who is just reading it', async () => {
    const attempt = await bench.begin(project, 'ada');
    const { sha256 } = await attempt.upload('The password is hunter2-needle.');
    const published = await attempt.tool('artifacts.publish', { path: 'a.md', sha256 });
    const { id } = published.body['metadata'] as { id: string };
    const reading = await bench.begin(project, 'ben');
    // It was read before the redaction, and would be journaled after it.
    const { directory } = bench.testing.cell;
    const bytes = await new ContentStore(directory.projectDir(project)).readStart(sha256, 100);
    const read = jest.spyOn(ContentStore.prototype, 'readStart').mockImplementationOnce(async () => {
      await redactArtifact(bench, project, { id });
      return bytes;
    });
    const answer = await reading.tool('artifacts.read', { id });
    read.mockRestore();
    expect([answer.status, answer.body['code']]).toEqual([410, 'artifact-redacted']);
    const rows = await bench.testing.rows<{ all: string }>(project, 'SELECT result_json AS "all" FROM turn_steps');
    expect(rows.map((row) => row.all).join()).not.toContain('hunter2');
    expect((await reading.tool('artifacts.read', { name: 'a.md', to: 'a.md' })).body['code']).toBe('artifact-redacted');
  });
});
