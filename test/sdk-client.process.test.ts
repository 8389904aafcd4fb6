import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import ts from 'typescript';
import { type TestApi, testApi } from '../services/api/test/support/api.js';
import { submit } from '../services/api/test/support/play.js';
import { installSdk } from './support/packed-sdk.js';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

let api: TestApi;
let directory: string;
beforeAll(async () => {
  api = await testApi();
  directory = await mkdtemp(join(tmpdir(), 'suzumio-client-'));
  await installSdk(directory);
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  await api.close();
});

/** What stands in a page as code of a language. */
async function examples(page: string, language: string): Promise<string[]> {
  const text = await readFile(path(page), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, code = '']) => code);
}

/** Runs a program beside the installed package, and returns what it printed. */
async function run(name: string, code: string): Promise<string> {
  await writeFile(join(directory, name), code);
  const env = { PATH: process.env['PATH'], SUZUMIO_URL: `${api.url}/`, SUZUMIO_TOKEN: api.adminToken };
  const options = { cwd: directory, env, timeout: 300_000 };
  const { stdout } = await promisify(execFile)(process.execPath, [name], options);
  return stdout;
}

/** Hands in a report as soon as there is mail. */
async function playEditor(): Promise<void> {
  for (;;) {
    const { json } = await api.get('/api/projects/bulletin/messages');
    if ((json as { items?: unknown[] }).items?.length === 1) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await submit(api, 'bulletin', 'editor', '# Tonight\n');
}

test('the examples run, each as it stands, against an API', async () => {
  const [whole = '', refused = '', files = '', ...more] = await examples('../docs/client.md', 'js');
  expect(more).toEqual([]);
  const [out] = await Promise.all([run('whole.mjs', whole), playEditor()]);
  expect(out).toMatch(
    /^project\.initialized \nproject\.started \nmessage\.created .*project\.submitted .*# Tonight\n/s,
  );
  const [first = ''] = await examples('../sdk/README.md', 'js client');
  expect(await run('first.mjs', first)).toMatch(/^bulletin \w+\nproject\.initialized \n.*project\.submitted .*\n$/s);
  expect(await run('refused.mjs', refused)).toMatch(/"nothing"/);
  await writeFile(join(directory, 'levels.csv'), 'a,b\n');
  await run('files.mjs', files);
  expect(await readFile(join(directory, 'levels-again.csv'), 'utf8')).toBe('a,b\n');
});

test('lists go to their end, a key makes a repetition harmless, and what is gone ends a stream', async () => {
  const out = await run(
    'more.mjs',
    `import { allItems, createClient, followEvents, SuzumioError } from '@suzumio/sdk';
const api = createClient({ url: process.env.SUZUMIO_URL, token: process.env.SUZUMIO_TOKEN });
const file = 'name: more\\ntask: t\\nbackend: { runner: { mode: mock } }\\nagents: { ada: { role: r, prompt: p } }\\n';
await api.createProject({ body: { file } });
const send = (n, idempotencyKey) =>
  api.sendMessage({ project: 'more', body: { recipient: 'ada', body: 'Letter ' + n } }, { idempotencyKey });
const [once, again] = [await send(1, 'k'), await send(1, 'k')];
await send(2);
const part = (after) => api.listMessages({ project: 'more', query: { after, limit: 1 } });
const letters = (await allItems(part, 0)).map(({ body }) => body);
const refusal = await send(3, 'k').catch((error) => [error instanceof SuzumioError, error.code, error.status, error.retryable]);
const away = createClient({ url: 'http://127.0.0.1:1', token: 'x' }).getHealth();
const unreachable = await away.catch((error) => [error instanceof SuzumioError, error.code, error.retryable]);
const events = followEvents(api, { project: 'more', types: ['message.created'] });
const first = (await events.next()).value.data;
await api.deleteProject({ project: 'more' });
let ended;
try {
  for await (const event of events);
} catch (error) {
  ended = [error instanceof SuzumioError, error.code];
}
const outcome = { same: once.id === again.id, letters, refusal, unreachable, first: typeof first, ended };
console.log(JSON.stringify(outcome));`,
  );
  expect(JSON.parse(out)).toEqual({
    same: true,
    letters: ['Letter 1', 'Letter 2'],
    refusal: [true, 'idempotency-mismatch', 422, false],
    unreachable: [true, 'server-unreachable', true],
    first: 'object',
    ended: [true, 'project-unknown'],
  });
});

test('the client needs nothing of Node', async () => {
  const out = await run(
    'browser.mjs',
    `const { SUZUMIO_URL: url, SUZUMIO_TOKEN: token } = process.env;
const print = process.stdout.write.bind(process.stdout);
await fetch(url + 'health');
for (const name of ['process', 'Buffer', 'global', 'setImmediate']) Reflect.deleteProperty(globalThis, name);
const { createClient } = await import('@suzumio/sdk/client');
print((await createClient({ url, token }).getHealth()).status);`,
  );
  expect(out).toBe('ok');
  for (const file of ['client', 'shared']) {
    const code = await readFile(join(directory, `node_modules/@suzumio/sdk/dist/${file}.js`), 'utf8');
    expect(code).not.toMatch(/\bnode:|\brequire\(|\bZodType\b/);
  }
});

test.each([
  ['bundler', 'esnext'],
  ['nodenext', 'nodenext'],
  ['node16', 'node16'],
  ['node', 'esnext'],
])('the types of the package are whole with the module resolution "%s"', async (moduleResolution, module) => {
  const [example = ''] = await examples('../docs/client.md', 'ts');
  const program = join(directory, 'program.mts');
  await writeFile(
    program,
    `${example}
import { type Attachment, TeamHandler } from '@suzumio/sdk';
export const start = (attachment: Attachment) =>
  new TeamHandler({ url: '', token: '' }).handle(async (_turn, ctx) => String((await ctx.read(attachment)).length));
`,
  );
  const { options } = ts.convertCompilerOptionsFromJson(
    { noEmit: true, strict: true, target: 'es2022', module, moduleResolution, ignoreDeprecations: '6.0', types: [] },
    directory,
  );
  const problems = ts.getPreEmitDiagnostics(
    ts.createProgram([program], { ...options, skipDefaultLibCheck: true, skipLibCheck: false }),
  );
  expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
});
