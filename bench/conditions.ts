import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { promisify } from 'node:util';

/** What a figure must be read with. */
export interface Conditions {
  commit: string;
  /** Whether files differed from the commit. */
  changed: boolean;
  startedAt: string;
  cpu: string;
  cores: number;
  memoryBytes: number;
  kernel: string;
  node: string;
  redis: string;
  docker: string;
  /** The machine's load when the run began: other work makes all figures worse. */
  loadBefore: number;
}

export async function readConditions(): Promise<Conditions> {
  const [commit, changes, redis, docker] = await Promise.all([
    said('git', 'rev-parse', 'HEAD'),
    said('git', 'status', '--porcelain'),
    said('redis-server', '--version'),
    said('docker', 'version', '--format', '{{.Server.Version}}'),
  ]);
  return {
    commit,
    changed: changes !== '',
    startedAt: new Date().toISOString(),
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    kernel: release(),
    node: process.version,
    redis: /v=(\S+)/.exec(redis)?.[1] ?? redis,
    docker,
    loadBefore: loadavg()[0] ?? 0,
  };
}

/** Starts to watch the machine; the returned function says what share of its time went where since. */
export function watchMachine(): () => { busy: number; steal: number } | undefined {
  const before = cpuTimes();
  return () => {
    const after = cpuTimes();
    if (!before || !after) return undefined;
    const spent = after.map((ticks, field) => ticks - (before[field] ?? 0));
    const total = spent.reduce((sum, ticks) => sum + ticks, 0);
    const [idle = 0, waiting = 0, steal = 0] = [spent[3], spent[4], spent[7]];
    return { busy: (total - idle - waiting) / total, steal: steal / total };
  };
}

/** User, nice, system, idle, iowait, irq, softirq, steal; Linux only. */
function cpuTimes(): number[] | undefined {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    return line.split(/\s+/).slice(1, 9).map(Number);
  } catch {
    return undefined;
  }
}

/** The processor time that a process has used so far, in milliseconds; Linux only. */
export function cpuMsOf(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid ?? 0}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return Number.NaN;
  }
}

/** The memory that a process holds now; Linux only. */
export function memoryBytesOf(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid ?? 0}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  } catch {
    return Number.NaN;
  }
}

/** What Linux counts processor time in, as it shows it. */
const tickMs = 10;

async function said(command: string, ...args: string[]): Promise<string> {
  try {
    return (await promisify(execFile)(command, args)).stdout.trim();
  } catch {
    return 'unknown';
  }
}
