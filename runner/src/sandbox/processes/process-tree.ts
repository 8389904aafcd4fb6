import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a command's processes have in their environment. */
export const markName = 'SUZUMIO_PROCESS';

/** The processes of one command: its session's, those that bear its mark, and all that these have started. */
export interface ProcessTree {
  /** The process that leads its session and group. */
  readonly leader: number;
  readonly mark: string;
  /** What {@link processesStarted} said before it. */
  readonly startedBefore: number;
}

/** A process that runs. */
interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  readonly name: string;
}

const maxRounds = 200;
const roundMs = 10;

/** Sends a signal to a command's process group: to its processes, but those that have left the group. */
export function signalGroup({ leader }: ProcessTree, signal: NodeJS.Signals): void {
  send(-leader, signal);
}

/**
 * Kills all processes of a command and waits until none runs.
 *
 * Without `/proc` that is its group only.
 *
 * @returns the names of those that ran
 */
export async function endTree(tree: ProcessTree): Promise<string[]> {
  const ended = new Map<number, string>();
  // A process that forks as fast as it can is caught once the group's are stopped at one stroke; others need rounds.
  for (let round = 0; round < maxRounds; round += 1) {
    const found = processesOf(tree);
    for (const { pid, name } of found) ended.set(pid, name);
    signalGroup(tree, 'SIGKILL');
    for (const { pid } of found) send(pid, 'SIGKILL');
    if (found.length === 0) break;
    await sleep(roundMs);
  }
  return [...ended.values()];
}

/** The processes of a command that run now. */
export function processesOf({ leader, mark, startedBefore }: ProcessTree): Running[] {
  const running = allRunning(leader, startedBefore);
  const members = new Set<number>();
  const own = Buffer.from(`${markName}=${mark}\0`);
  for (const { pid, session } of running) {
    if (session === leader || environmentOf(pid).includes(own)) members.add(pid);
  }
  for (let before = -1; before !== members.size;) {
    before = members.size;
    for (const { pid, parent } of running) if (members.has(parent)) members.add(pid);
  }
  return running.filter(({ pid }) => members.has(pid));
}

/** How many processes and threads the system has started so far; not a number where it does not say. */
export function processesStarted(): number {
  const [, count] = /^processes (\d+)$/m.exec(readOrEmpty('/proc/stat').toString('latin1')) ?? [];
  return Number(count);
}

/** So many processes are looked at in a millisecond or two. */
const fewProcesses = 64;

/**
 * All that run, or, where that is many, those that can be the leader's: the system counts ids up, so they have higher ones,
 * unless so many processes were started since that the count may have begun anew.
 */
function allRunning(leader: number, startedBefore: number): Running[] {
  const ids = entriesOf('/proc').filter((entry) => /^\d+$/.test(entry));
  const highest = Number(readOrEmpty('/proc/sys/kernel/pid_max').toString('latin1'));
  const isCountedUp = ids.length > fewProcesses && leader + processesStarted() - startedBefore < highest;
  return runningIn(isCountedUp ? ids.filter((id) => Number(id) >= leader) : ids);
}

function runningIn(ids: readonly string[]): Running[] {
  const running: Running[] = [];
  for (const entry of ids) {
    // pid (name) state parent group session …; the name may have any character.
    const [, name, rest] = /\((.*)\) (.*)$/s.exec(readOrEmpty(`/proc/${entry}/stat`).toString('latin1')) ?? [];
    const [state, parent, , session] = rest?.split(' ') ?? [];
    if (name === undefined || state === 'Z' || state === 'X') continue;
    running.push({ pid: Number(entry), parent: Number(parent), session: Number(session), name });
  }
  return running;
}

function environmentOf(pid: number): Buffer {
  return readOrEmpty(`/proc/${pid}/environ`);
}

function readOrEmpty(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
