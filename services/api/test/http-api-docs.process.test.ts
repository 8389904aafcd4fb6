import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTurns } from '@suzumio/store/turns/start-turns';
import { type TestApi, testApi } from './support/api.js';
import { submit } from './support/play.js';

const page = await readFile(new URL('../../../docs/http-api.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```sh *(\w*)\n(.*?)^```/gms)].map(([, kind = '', script = '']) => ({
  kind,
  script,
}));
const [prelude, ...examples] = blocks;

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

/** Runs an example as a reader would who has done what the page says first. */
function shell(script: string) {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', `${prelude?.script ?? ''}\n${script}`], {
    env: { PATH: process.env['PATH'], SUZUMIO_URL: api.url, SUZUMIO_ROOT: api.root },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  return { child, exited };
}

const withCurl = (process.env['SUZUMIO_TEST_SKIP'] ?? '').split(',').includes('curl') ? test.skip : test;

withCurl('the examples of docs/http-api.md do what they say', async () => {
  expect(examples.length).toBeGreaterThan(6);
  for (const { kind, script } of examples) {
    if (kind === 'report') await submit(api, 'bulletin', 'editor', `# Report for\n${script}`);
    if (kind === 'stream') continue;
    if (script.includes('editor:1')) await api.write('bulletin', (tx) => startTurns(tx));
    const { child, exited } = shell(script);
    const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
    expect({ script, code, errors, output }).toMatchObject({ code: 0, errors: '' });
    expect(output).not.toBe('');
  }
  const detail = (await api.get('/api/projects/bulletin')).json;
  expect(detail).toMatchObject({ project: { status: 'completed', reportVersion: 2 } });
  const thanks = await api.rows('bulletin', `SELECT id FROM messages WHERE body = 'Thank you.'`);
  expect(thanks).toHaveLength(1);
});

withCurl('its stream begins with what has happened', async () => {
  const example = examples.find(({ kind }) => kind === 'stream');
  const { child, exited } = shell(example?.script ?? '');
  const lines: string[] = [];
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    lines.push(...String(chunk).split('\n'));
    if (lines.some((line) => line.startsWith('data: '))) break;
  }
  expect(lines).toContain('event: project.initialized');
  // The shell and its curl are one process group.
  process.kill(-(child.pid ?? 0), 'SIGTERM');
  await exited;
});

test('the routes of its table are there', async () => {
  const listed = [...page.matchAll(/^\| `(GET|POST|DELETE)(?: (\/:project[^`]*))?` /gm)];
  expect(listed.length).toBeGreaterThan(20);
  for (const [, method = '', path = ''] of listed) {
    const known = path
      .replace(':project', method === 'DELETE' ? 'nothing' : 'bulletin')
      .replace(':agent', 'editor')
      .replace(/:\w+/, 'x');
    if (path.endsWith('/stream')) continue;
    const { json } = await api.call(method, `/api/projects${known}`);
    expect({ path, json }).not.toMatchObject({ json: { code: 'not-found' } });
  }
});
