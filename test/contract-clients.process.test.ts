import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient } from '@hey-api/openapi-ts';
import { loadProjectFile } from '../shared/runtime/src/disk/load-project-file.js';
import { renderConfig } from '../shared/core/src/config/render-config.js';
import { type Stack, startStack } from './support/stack.js';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const newsroom = path('../examples/newsroom');

let stack: Stack;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'suzumio-clients-'));
  const policy = join(directory, 'policy.yaml');
  await writeFile(policy, JSON.stringify({ backends: ['process'], workspaces: { roots: [newsroom] } }));
  stack = await startStack({ environment: { SUZUMIO_POLICY_FILE: policy } });
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  await stack.stop();
});

/** Runs a program to its end. */
async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const signal = AbortSignal.timeout(300_000);
  const child = spawn(command, args, { cwd: directory, env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  if (code !== 0) throw new Error(`${command} ended with ${String(code)}:\n${out}\n${error}`);
  return out;
}

/** The newsroom's file as it is posted: everything in it, and its turns in processes. */
function postedFile(): string {
  const { config } = loadProjectFile(join(newsroom, 'newsroom.yaml'), { env: {} });
  return renderConfig({ ...config, backend: { ...config.backend, kind: 'process' } });
}

test('clients of other makers, one of them generated from the description, drive the newsroom to approval', async () => {
  await createClient({
    input: path('../docs/openapi.json'),
    output: join(directory, 'generated'),
    plugins: ['@hey-api/client-fetch', '@hey-api/sdk', { name: '@hey-api/typescript', enums: 'javascript' }],
    logs: { level: 'silent' },
  });
  await copyFile(path('fixtures/generated-client/newsroom.mts'), join(directory, 'newsroom.mts'));
  await symlink(path('../node_modules'), join(directory, 'node_modules'));
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2024',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: ['node'],
    allowImportingTsExtensions: true,
  };
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['newsroom.mts'] }));
  await run(process.execPath, [path('../node_modules/typescript/bin/tsc'), '--project', directory]);
  const bundle = ['newsroom.mts', '--outfile=newsroom.mjs', '--bundle', '--platform=node', '--format=esm'];
  await run(path('../node_modules/.bin/esbuild'), [...bundle, '--log-level=warning']);

  const outcome = JSON.parse(
    await run(process.execPath, ['newsroom.mjs'], {
      PATH: process.env['PATH'],
      SUZUMIO_URL: stack.url,
      SUZUMIO_TOKEN: stack.adminToken(),
      PROJECT_FILE: postedFile(),
    }),
  ) as Record<string, unknown> & Record<'streamed' | 'listed' | 'beginnings', string[]>;

  expect(outcome).toMatchObject({
    created: 'initialized',
    again: 'newsroom',
    refused: 'project-exists',
    sentTo: ['editor'],
    reached: 'submitted',
    report: expect.stringMatching(/^# River level tonight\n/),
    contents: expect.arrayContaining([
      { name: 'north-summary.md', whole: true },
      { name: 'south-summary.md', whole: true },
    ]),
    senders: expect.arrayContaining(['user', 'editor', 'reporter-1', 'reporter-2', 'checker']),
    approved: 'completed',
  });
  // Two connections, the second from where the first was cut; together everything once and in order.
  const [first, second, ...more] = outcome.beginnings;
  expect([first, more]).toEqual([null, []]);
  expect(outcome.streamed).toContain(second);
  expect(outcome.streamed).toEqual(outcome.listed);
});
