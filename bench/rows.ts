import type { CapturesFigures } from './captures.js';
import type { ClaimFigures } from './claim.js';
import type { DockerFigures } from './docker.js';
import type { FollowersFigures } from './followers.js';
import type { IdleFigures } from './idle.js';
import type { LiveFigures } from './live.js';
import type { MessagesFigures } from './messages.js';
import type { NeighboursFigures } from './neighbours/neighbours.js';
import { type Spread, spread } from './statistics.js';
import type { ToolsFigures } from './tools.js';
import type { TurnsFigures } from './turns.js';
import type { WebFigures } from './web.js';

/** More is better a second, and less of everything else. */
export type Unit = 'ms' | 'times' | 'a second' | 'bytes' | 'MiB' | 'ms a second' | 'turns' | 'leases' | 'nodes';

/** One figure of a run. */
export interface Row {
  /** Its part of the benchmark, and what was measured. */
  name: string;
  /** The median of the samples. */
  value: number;
  unit: Unit;
  /** What its parts cost by themselves, in the same unit and run. */
  floor: number | null;
  /** The value, in floors. */
  ratio: number | null;
  /** The most that the value is to be. */
  target: number | null;
  met: boolean | null;
  spread: Spread;
}

interface Beside {
  floor?: number;
  ratio?: number;
  target?: number | undefined;
}

/**
 * A row of samples, or of one figure that has none.
 *
 * @throws Error where nothing was measured, which fails the part
 */
export function row(name: string, unit: Unit, measured: Spread | number, beside: Beside = {}): Row {
  const { floor = null, ratio = null, target = null } = beside;
  const samples = typeof measured === 'number' ? spread([measured]) : measured;
  const value = samples.p50;
  if (!Number.isFinite(value)) throw new Error(`nothing was measured for "${name}"`);
  return { name, value, unit, floor, ratio, target, met: target === null ? null : value <= target, spread: samples };
}

export function claimRows({ claimMs, floorMs, ratio, stagesMs }: ClaimFigures): Row[] {
  return [
    row('claim: message accepted -> turn claimed', 'ms', claimMs, { floor: floorMs.p50, ratio, target: 25 }),
    ...Object.entries(stagesMs).map(([stage, ms]) => row(`claim: ${stage}`, 'ms', ms)),
  ];
}

export function turnsRows(figures: readonly TurnsFigures[]): Row[] {
  return figures.flatMap(({ projects, turnsPerSecond, floorPerSecond, ratio, cpuMs }) => [
    row(`turns: ${projects} projects`, 'a second', turnsPerSecond, { floor: floorPerSecond, ratio }),
    ...Object.entries(cpuMs).map(([service, ms]) =>
      row(`turns: ${projects} projects, processor time of a turn, ${service}`, 'ms', ms),
    ),
  ]);
}

export function messagesRows(figures: readonly MessagesFigures[]): Row[] {
  return figures.map(({ connections, acceptedPerSecond, floorPerSecond, ratio }) =>
    row(`messages: ${connections} connections`, 'a second', acceptedPerSecond, { floor: floorPerSecond, ratio }),
  );
}

export function followersRows(figures: FollowersFigures): Row[] {
  const { followers, delayMs, floorDelayMs, delayRatio, eventsPerSecond, floorEventsPerSecond, rateRatio } = figures;
  return [
    row(`followers: message sent -> event at ${followers}`, 'ms', delayMs, {
      floor: floorDelayMs.p50,
      ratio: delayRatio,
    }),
    row(`followers: events at ${followers}`, 'a second', eventsPerSecond, {
      floor: floorEventsPerSecond,
      ratio: rateRatio,
    }),
  ];
}

/** In milliseconds, by the files of the workspace. */
const captureTargets: Readonly<Record<number, number>> = { 1_000: 30, 20_000: 200 };

export function capturesRows(figures: readonly CapturesFigures[]): Row[] {
  return figures.flatMap(({ files, captureMs, processorMs, walkMs, ratio, loopDelayMs, uploadedBytes, firstMs }) => [
    row(`captures: ${files} files`, 'ms', captureMs, { floor: walkMs.p50, ratio, target: captureTargets[files] }),
    row(`captures: ${files} files, processor time`, 'ms', processorMs),
    row(`captures: ${files} files, event loop busy at most`, 'ms', loopDelayMs, { target: 10 }),
    row(`captures: ${files} files, uploaded`, 'bytes', uploadedBytes),
    row(`captures: ${files} files, the first`, 'ms', firstMs),
  ]);
}

export function toolsRows(figures: readonly ToolsFigures[]): Row[] {
  return figures.flatMap(({ backend, coreMs, readMs, readRatio, execMs, processMs, execOverheadMs, ...rest }) => [
    row(`tools: artifacts.list, ${backend}`, 'ms', coreMs),
    row(`tools: file.read of 10 kB, ${backend}`, 'ms', readMs),
    row(`tools: file.read in calls of artifacts.list, ${backend}`, 'times', readRatio, { target: 3 }),
    row(`tools: shell.exec of true, ${backend}`, 'ms', execMs, {
      floor: processMs.p50,
      ratio: execMs.p50 / processMs.p50,
    }),
    row(`tools: shell.exec beside its process, ${backend}`, 'ms', execOverheadMs, { target: 15 }),
    row(`tools: that in calls of artifacts.list, ${backend}`, 'times', rest.execOverheadRatio),
  ]);
}

export function dockerRows(figures: DockerFigures): Row[] {
  const { turnMs, dockerRunMs, overhead, stagesMs, turnsPerSecond, dockerRunsPerSecond: floor } = figures;
  return [
    row('docker: turn', 'ms', turnMs, { floor: dockerRunMs.p50, ratio: overhead.p50 }),
    row('docker: turn in docker runs', 'times', overhead, { target: 1.3 }),
    ...Object.entries(stagesMs).map(([stage, ms]) => row(`docker: ${stage}`, 'ms', ms)),
    row('docker: turns', 'a second', turnsPerSecond, { floor, ratio: turnsPerSecond.p50 / floor }),
  ];
}

/** The floor of what attacks is what works. */
export function neighboursRows(figures: readonly NeighboursFigures[]): Row[] {
  return figures.flatMap(({ attack, besideAttack, besideWork }) => [
    ...(['heartbeatMs', 'wakeMs', 'startMs'] as const).map((what) => {
      const [p99, floor] = [besideAttack[what].p99, besideWork[what].p99];
      return row(`neighbours: ${attack}, p99 of ${what.slice(0, -2)}s`, 'ms', p99, { floor, ratio: p99 / floor });
    }),
    row(`neighbours: ${attack}, starts before`, 'turns', besideAttack.startsBefore),
    row(`neighbours: ${attack}, lost`, 'leases', besideAttack.leasesLost),
    row(`neighbours: ${attack}, memory of the ToolHost`, 'MiB', besideAttack.toolhostBytes / 1024 ** 2),
  ]);
}

export function idleRows(figures: readonly IdleFigures[]): Row[] {
  return figures.flatMap(({ projects, cpuMsPerSecond, memoryMiB }) => [
    ...Object.entries(cpuMsPerSecond).map(([service, ms]) =>
      row(`idle: ${projects} projects, processor time, ${service}`, 'ms a second', ms),
    ),
    ...Object.entries(memoryMiB).map(([service, held]) =>
      row(`idle: ${projects} projects, resident memory, ${service}`, 'MiB', held),
    ),
  ]);
}

export function liveRows({ turns, followedMs, aloneMs, ratio }: LiveFigures): Row[] {
  return [
    row(`live: ${turns} turns that print, each of them followed`, 'ms', followedMs, { floor: aloneMs.p50, ratio }),
    row('live: in turns that nobody follows', 'times', ratio, { target: 1.05 }),
  ];
}

export function webRows(figures: WebFigures): Row[] {
  const { viewMs, scriptBytes, eventMs, floorMs, eventP95Ms, floorP95Ms, places, memoryMiB } = figures;
  return [
    row('web: first view', 'ms', viewMs, { target: 1_000 }),
    row('web: scripts of the first view, compressed', 'bytes', scriptBytes, { target: 200_000 }),
    row('web: message committed -> on screen', 'ms', eventMs, {
      floor: floorMs.p50,
      ratio: eventMs.p50 / floorMs.p50,
    }),
    row('web: message committed -> on screen, p95', 'ms', eventP95Ms, {
      floor: floorP95Ms,
      ratio: eventP95Ms / floorP95Ms,
      target: 150,
    }),
    ...places.flatMap(({ place, longestTaskMs, nodes }) => [
      row(`web: longest task while ${place} is scrolled, six times slower`, 'ms', longestTaskMs, { target: 100 }),
      row(`web: nodes of ${place}`, 'nodes', nodes, { target: 3_000 }),
    ]),
    row('web: memory after a stream of events', 'MiB', memoryMiB.last, {
      floor: memoryMiB.first,
      ratio: memoryMiB.last / memoryMiB.first,
    }),
    row('web: in what it was after a fifth of it', 'times', memoryMiB.last / memoryMiB.first, { target: 1.2 }),
  ];
}
