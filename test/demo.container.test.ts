import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { docker } from './support/images.js';
import { eventually } from './support/poll.js';
import { brokenInvariants, openProject } from './support/project.js';

const command = fileURLToPath(new URL('../cli/bin/suzumio.js', import.meta.url));

/** Where no engine is. */
const noEngine = 'unix:///nonexistent/docker.sock';

/** Runs the built command as a process of its own. */
async function suzumio(
  root: string,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<{ code: number; out: string; err: string }> {
  const env = { PATH: process.env['PATH'], HOME: root, SUZUMIO_ROOT: root, ...more };
  const child = spawn(process.execPath, [command, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close') as Promise<[number]>;
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, out, err };
}

/** Runs the demo on a terminal, opens its page when it has come to its end, and then presses Ctrl-C. */
async function demoOnTerminal(root: string, more: Readonly<Record<string, string>>) {
  const env = { PATH: process.env['PATH'], HOME: root, SUZUMIO_ROOT: root, NO_COLOR: '1', ...more };
  const onTerminal = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';
  const child = spawn('python3', ['-c', onTerminal, process.execPath, command, 'demo'], {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close') as Promise<[number]>;
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => (out += more.replaceAll('\r', '')));
  const err = text(child.stderr);
  await Promise.race([
    eventually('the page goes on', () => out.includes('The page goes on'), { show: () => out }),
    closed,
  ]);
  const [, link = ''] = /^page: +(\S+) +\(signs you in, once/m.exec(out) ?? [];
  const page = await fetch(link).then((answer) => answer.text());
  child.stdin.end('\x03');
  const [code] = await closed;
  return { code, out, err: await err, page };
}

describe.each(['docker', 'process'] as const)('the demo, with turns in the %s backend', (backend) => {
  let root: string;
  let demo: Awaited<ReturnType<typeof suzumio>> & { page?: string };
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'suzumio-demo-test-'));
    demo = backend === 'docker' ? await suzumio(root, ['demo']) : await demoOnTerminal(root, { DOCKER_HOST: noEngine });
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  test('ends with the approved report, and says where everything is', () => {
    expect(demo).toMatchObject({ code: 0, err: '' });
    const lines = demo.out.split('\n');
    expect(lines.filter((line) => line.includes('submitted the report'))).toHaveLength(2);
    expect(lines.filter((line) => line.startsWith('-- you:'))).toHaveLength(3);
    expect(demo.out.includes('Turns run as processes of this machine')).toBe(backend === 'process');
    expect(demo.out).toContain('approved the report (version 2)');
    expect(demo.out).toContain(`data:   ${root}`);
    expect(demo.out).toContain('| # River level tonight');
    expect(demo.out).toMatch(/next: suzumio turns newsroom\n.*suzumio messages newsroom\n.*suzumio report newsroom\n/);
    expect(demo.out.includes('The page goes on: http://127.0.0.1')).toBe(backend === 'process');
    expect(demo.page ?? '').toMatch(backend === 'process' ? /<title>Suzumio/ : /^$/);
  });

  test('leaves a project in which everything that happened is recorded', () => {
    const project = openProject(root, 'newsroom');
    try {
      expect(brokenInvariants(project)).toEqual([]);
      expect(project.get('SELECT status FROM projects')).toEqual({ status: 'completed' });
      expect(project.all(`SELECT seq FROM events WHERE type = 'project.changes-requested'`)).toHaveLength(1);
      const turns = project.all<{ id: string; status: string; reads: number; stats: string | null }>(
        `SELECT id, status, (SELECT count(*) FROM message_reads WHERE turn_id = turns.id) AS reads,
           (SELECT stats_json FROM turn_attempts WHERE turn_id = turns.id AND number = turns.attempt) AS stats FROM turns`,
      );
      expect(turns.length).toBeGreaterThanOrEqual(9);
      for (const turn of turns) {
        expect(turn).toMatchObject({ status: 'completed', reads: expect.any(Number) });
        expect(turn.reads).toBeGreaterThan(0);
        const { container } = JSON.parse(turn.stats ?? '{}') as { container?: string };
        expect(container).toMatch(backend === 'docker' ? /^[0-9a-f]{64}$/ : /^\d+$/);
      }
      expect(project.all(`SELECT id FROM tool_calls WHERE status <> 'succeeded'`)).toEqual([]);
      const calls = project.all<{ tool: string; count: number }>(
        'SELECT tool, count(*) AS count FROM tool_calls GROUP BY tool',
      );
      expect(Object.fromEntries(calls.map(({ tool, count }) => [tool, count]))).toMatchObject({
        'artifacts.publish': 5,
        'artifacts.read': 7,
        'completion.submit': 2,
      });
      expect(project.all('SELECT id FROM messages WHERE channel IS NOT NULL')).toHaveLength(2);
    } finally {
      project.close();
    }
  });

  test('leaves each published file as its row says, and every figure of the report in one of them', async () => {
    const directory = join(root, 'projects', 'newsroom');
    const project = openProject(root, 'newsroom');
    try {
      const artifacts = project.all<{ name: string; path: string; sha256: string }>(
        'SELECT name, path, sha256 FROM artifacts',
      );
      const published = new Map<string, string>();
      for (const { name, path, sha256 } of artifacts) {
        const content = readFileSync(join(directory, path));
        expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
        published.set(name, content.toString('utf8'));
      }
      const report = (await suzumio(root, ['report', 'newsroom'])).out;
      const row = project.get<{ report_path: string }>('SELECT report_path FROM projects');
      expect(readFileSync(join(directory, row?.report_path ?? ''), 'utf8')).toBe(report);
      const figures = [...report.matchAll(/(\d+\.\d\d) m at (\d\d:\d\d) \((\w+\.csv), line (\d+)\)/g)];
      expect(figures).toHaveLength(10);
      for (const [, metres, time, file = '', line] of figures) {
        const reading = `${time ?? ''},${String(Math.round(Number(metres) * 100))}`;
        expect(published.get(file)?.split('\n')[Number(line) - 1]).toBe(reading);
      }
    } finally {
      project.close();
    }
  });

  test('leaves nothing running', async () => {
    const worker = readFileSync(join(root, 'worker', 'worker-id'), 'utf8').trim();
    expect(await docker('ps', '--all', '--quiet', '--filter', `label=suzumio.worker=${worker}`)).toBe('');
    const { code, err } = await suzumio(root, ['send', 'newsroom', 'editor', 'P1', 'Anybody there?']);
    expect([code, err]).toEqual([4, `No Suzumio server is running for ${root}.\nnext: suzumio serve\n`]);
  });
});

test('the demo can be run again in the same data directory, and its output cut off anywhere', async () => {
  const root = await mkdtemp(join(tmpdir(), 'suzumio-demo-test-'));
  try {
    expect(await suzumio(root, ['demo'], { DOCKER_HOST: noEngine })).toMatchObject({ code: 0 });
    expect(await suzumio(root, ['demo'], { DOCKER_HOST: noEngine })).toMatchObject({ code: 0 });
    const { out } = await suzumio(root, ['status', '--json']);
    expect((JSON.parse(out) as { project: { id: string } }[]).map(({ project }) => project.id)).toEqual([
      'newsroom',
      'newsroom-2',
    ]);
    const env = { PATH: process.env['PATH'], SUZUMIO_ROOT: root };
    const pipe = spawn('sh', ['-c', `"${process.execPath}" "${command}" events newsroom --json | head -n 1`], { env });
    const [first, complaints] = await Promise.all([text(pipe.stdout), text(pipe.stderr)]);
    expect([first, complaints]).toEqual(['[\n', '']);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
