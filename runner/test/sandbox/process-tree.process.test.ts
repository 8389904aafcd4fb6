import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '../../../test/support/poll.js';
import { markName, processesOf, processesStarted } from '../../src/sandbox/processes/process-tree.js';

const mark = 'of-a-test';
let children: ReturnType<typeof spawn>[];
beforeEach(() => {
  children = Array.from({ length: 70 }, (_, n) =>
    spawn('sleep', ['600'], { stdio: 'ignore', env: n === 0 ? { ...process.env, [markName]: mark } : process.env }),
  );
});
afterEach(() => children.forEach((child) => child.kill('SIGKILL')));

test('where many processes run, those that are older than a command are not looked at, unless ids may have begun anew', async () => {
  const marked = children[0]?.pid ?? 0;
  const last = children.at(-1)?.pid ?? 0;
  const found = (leader: number, startedBefore: number) =>
    processesOf({ leader, mark, startedBefore }).map(({ pid }) => pid);
  await eventually('it bears its mark', () => found(marked, processesStarted()).includes(marked));
  expect(found(last + 1, processesStarted())).toEqual([]);
  const all = Number(readFileSync('/proc/sys/kernel/pid_max', 'latin1'));
  expect(found(last + 1, processesStarted() - all)).toEqual([marked]);
  expect(found(last + 1, Number.NaN)).toEqual([marked]);
});
