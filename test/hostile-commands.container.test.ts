import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Sql } from '@suzumio/store/sqlite/sql';
import { eventually } from './support/poll.js';
import { startStack, type Stack } from './support/stack.js';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ backends: ['docker', 'process'] });
});
afterAll(() => stack.stop());

interface Turn {
  status: string;
  attempts: number;
  failure: { code: string; message: string } | null;
  prompt: string;
}

/** A project whose agent plays steps, in its first attempt at each turn, and otherwise ends at once. */
async function project(name: string, backend: string, steps: readonly object[], maxAttempts = 2) {
  const config = {
    name,
    task: 'Work.',
    tools: { toolpacks: ['files', 'shell'] },
    turn: { maxAttempts },
    backend: {
      kind: backend,
      docker: { keep: 'never', pids: 64 },
      runner: { mode: 'mock', script: [{ agent: 'dev', when: { turn: 1 }, steps }] },
    },
    agents: { dev: { role: 'developer', prompt: 'Work.', tools: ['*'] } },
  };
  const message = { recipient: 'dev', body: 'Go.' };
  expect(await stack.api('POST', '/projects', { file: JSON.stringify(config), start: true, message })).toMatchObject({
    status: 201,
  });
  const rows = <Row>(sql: string): Row[] => {
    const database = Sql.open(join(stack.root, 'projects', name, 'project.db'), { readonly: true });
    try {
      return database.all<Row>(sql);
    } finally {
      database.close();
    }
  };
  return {
    /** A turn once it has ended. */
    async turn(number = 1): Promise<Turn> {
      const read = () =>
        rows<Omit<Turn, 'failure'> & { failure: string | null }>(
          `SELECT status, attempt AS attempts, failure_json AS failure, prompt FROM turns WHERE number = ${number}`,
        )[0];
      await eventually(`turn ${number} of ${name} ends`, () => /completed|failed/.test(read()?.status ?? ''));
      const { failure, ...turn } = read() ?? { failure: null, status: '', attempts: 0, prompt: '' };
      return { ...turn, failure: failure === null ? null : (JSON.parse(failure) as Turn['failure']) };
    },
    /** What its calls came to, as a model is told. */
    told: () =>
      rows<{ result: string }>(`SELECT result_json AS result FROM turn_steps ORDER BY recorded_at_ms, key`).map(
        ({ result }) => JSON.parse(result) as { ok: boolean; response?: { output: string } },
      ),
    /** Lets an agent go on whose turn has failed. */
    async again() {
      await stack.api('POST', `/projects/${name}/agents/dev/reset`, {});
      await stack.api('POST', `/projects/${name}/messages`, { recipient: 'dev', body: 'Again.' });
    },
  };
}

const exec = (command: string, more: object = {}) => ({ tool: 'shell.exec', input: { command, ...more } });

/** Processes of this machine, containers' among them, with this command line. */
function running(command: string): string[] {
  const commandOf = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    } catch {
      return '';
    }
  };
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandOf(name) === command);
}

describe.each(['docker', 'process'])('in the %s backend', (backend) => {
  test('what runs in the background ends with a runner that is killed, in whatever session it is', async () => {
    const sleep = `sleep 9876${backend.length}`;
    const lab = await project(`killed-${backend}`, backend, [
      exec(`${sleep} & setsid ${sleep} & setsid nohup ${sleep} >/dev/null 2>&1 & wait`, { background: true }),
      exec(`while [ "$(pgrep -fxc '${sleep}')" -lt 3 ]; do sleep 0.05; done`, { timeoutMs: 20_000 }),
      // As long as the test may pause between two looks, and longer.
      { wait: '1s' },
      { crash: true },
    ]);
    await eventually('all three run', () => running(sleep).length === 3);
    await lab.turn();
    expect(running(sleep)).toEqual([]);
  });

  test('a command that makes more files than a workspace holds fails its turn, and the next one is told', async () => {
    const steps = [
      exec('echo kept > kept.txt'),
      { tool: 'artifacts.list', input: {} },
      exec('mkdir many; cd many; seq 200000 | xargs touch; sleep 100', { timeoutMs: 200_000 }),
    ];
    const lab = await project(`files-${backend}`, backend, steps, 1);
    expect(await lab.turn()).toMatchObject({ status: 'failed', failure: { code: 'workspace-too-large' } });
    await lab.again();
    const { status, prompt } = await lab.turn(2);
    expect(status).toBe('completed');
    expect(prompt).toContain('# Workspace: 1 entry\n  kept.txt, 5 bytes\n');
    expect(prompt).toMatch(
      /# Your last turn failed\n {2}workspace-too-large: The turn wrote more than it may: more than \d+ files and directories\.\nYour workspace is as it was/,
    );
  });
});

test('a command that uses the memory up is ended, and says so; its turn goes on', async () => {
  const lab = await project('memory', 'docker', [exec('tail /dev/zero'), exec('echo well')]);
  expect(await lab.turn()).toMatchObject({ status: 'completed', attempts: 1 });
  expect(lab.told()[0]?.response?.output).toMatch(/^\[exit code 137: SIGKILL, killed because the memory of the turn/);
});

test('a fork bomb gets as far as the limit of its container; all of it is ended, and its turn goes on', async () => {
  const lab = await project('bomb', 'docker', [exec('bomb() { bomb | bomb & }; bomb; sleep 2'), exec('echo well')]);
  expect(await lab.turn()).toMatchObject({ status: 'completed', attempts: 1 });
  const [bomb, after] = lab.told().map(({ response }) => response?.output);
  expect(bomb).toMatch(/\[It left \d+ process(es)? behind, now ended: bash/);
  expect(bomb).toMatch(/fork: .*Resource temporarily unavailable/);
  expect(after).toMatch(/^\[exit code 0, .*\nwell$/s);
});

test('a command that kills all that it can ends its turn within its attempts, and the next one is told', async () => {
  const lab = await project('killer', 'docker', [exec('kill -9 -1')]);
  const { status, attempts, failure } = await lab.turn();
  expect([status, attempts <= 2]).toEqual(['failed', true]);
  await lab.again();
  expect((await lab.turn(2)).prompt).toContain(`# Your last turn failed\n  ${failure?.code ?? ''}: `);
});
