import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';
import { loadProjectFile } from '../shared/runtime/src/disk/load-project-file.js';
import { renderConfig } from '../shared/core/src/config/render-config.js';
import { eventually } from './support/poll.js';
import { count } from './support/outcomes.js';
import { openProject } from './support/project.js';
import { expectEveryLinkAndReceipt, researchTeam } from './support/research-team.js';
import { type Stack, startStack } from './support/stack.js';

// Starts: cli.

const repository = fileURLToPath(new URL('..', import.meta.url));
const file = join(researchTeam, 'research-team.yaml');
const stacks: Stack[] = [];

afterEach(async () => {
  await Promise.all(stacks.splice(0).map((stack) => stack.stop()));
});

async function start(options: Parameters<typeof startStack>[0]): Promise<Stack> {
  const policy = { workspaces: { roots: [researchTeam] } };
  const stack = await startStack({ policy, slots: 4, ...options });
  stacks.push(stack);
  return stack;
}

/** One number that the project's database answers; 0 while there is none. */
function counted(stack: Stack, what: string): number {
  const database = openProject(stack.root, 'research-team');
  try {
    return count(database, what);
  } finally {
    database.close();
  }
}

const submitted = (stack: Stack) =>
  eventually('the report is submitted', () => counted(stack, 'reports') > 0, { show: stack.logs });
const allIsQuiet = (stack: Stack) =>
  eventually('every turn has ended', () => counted(stack, `turns WHERE status IN ('queued', 'running')`) === 0, {
    show: stack.logs,
  });

describe('the research team', () => {
  test('does as its page says, and every link and receipt is there', async () => {
    const page = readFileSync(join(researchTeam, 'README.md'), 'utf8');
    const [begin = '', look = ''] = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, script = '']) => script);
    const stack = await start({ backends: ['docker'] });
    // It is watched through the database here, as nobody is there to press Ctrl-C.
    await shell(stack, begin.replace(/^.* watch .*\n/m, ''));
    await submitted(stack);
    await allIsQuiet(stack);
    await expectEveryLinkAndReceipt(stack);
    const shown = await shell(stack, look);
    expect(shown).toMatch(/^NO .* TASK\n2 .* manager .* done .* Akagi Works/);
    expect(shown).toMatch(/researcher-\d -> manager {2}reply to 2, P1, read .*\n +Akagi Works: 12\.40 a piece/);
    expect(shown).toMatch(/to {7}@research\n/);
    expect(shown.match(/^researcher-\d +read +researcher-\d:\d+ +1 .* completed$/gm)).toHaveLength(3);
    expect(shown).toContain('Of 10 suppliers, Juno Supply is the cheapest that is on time.');
    expect(counted(stack, `projects WHERE status = 'completed'`)).toBe(1);
  });

  test('comes to the same when every process is killed half way and started again', async () => {
    const stack = await start({ backends: ['process'], leaseMs: 6_000 });
    const { config } = loadProjectFile(file, { env: {} });
    const posted = renderConfig({
      ...config,
      backend: { ...config.backend, kind: 'process' },
      turn: { ...config.turn, maxAttempts: 10 },
    });
    const message = { recipient: 'manager', body: 'Please compare the ten suppliers.' };
    expect(await stack.api('POST', '/projects', { file: posted, start: true, message })).toMatchObject({ status: 201 });
    await eventually('five are done', () => counted(stack, `tasks WHERE state = 'done'`) >= 5);
    const services = Object.values(stack.services).flat();
    await Promise.all([...services.map((service) => service.kill()), stack.redis.kill()]);
    expect(counted(stack, `tasks WHERE state <> 'done'`)).toBeGreaterThan(0);
    expect(counted(stack, 'reports')).toBe(0);

    await stack.redis.restart();
    // The ToolHost first, for workers have to find it.
    const [workers, others] = [stack.services['turn-worker'], services.filter(({ name }) => name !== 'turn-worker')];
    await Promise.all(others.map((service) => service.start()));
    await Promise.all(workers.map((worker) => worker.start()));
    await submitted(stack);
    await allIsQuiet(stack);
    await expectEveryLinkAndReceipt(stack);
  });
});

/** Runs a block of the page as a reader would, with the built command, against a stack. */
async function shell(stack: Stack, script: string): Promise<string> {
  const command = join(repository, 'cli', 'bin', 'suzumio.js');
  const npx = `npx() { shift; '${process.execPath}' '${command}' "$@"; }`;
  const child = spawn('bash', ['-euo', 'pipefail', '-c', `${npx}\n${script}`], {
    cwd: repository,
    env: { PATH: process.env['PATH'], SUZUMIO_URL: stack.url, SUZUMIO_TOKEN: stack.adminToken() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  expect({ script, code, errors, out }).toMatchObject({ code: 0, errors: '' });
  return out;
}
