import type { CapturesFigures } from './captures.js';
import type { ClaimFigures } from './claim.js';
import type { Conditions } from './conditions.js';
import type { DockerFigures } from './docker.js';
import type { FollowersFigures } from './followers.js';
import type { IdleFigures } from './idle.js';
import type { MessagesFigures } from './messages.js';
import type { NeighboursFigures, Numbers } from './neighbours/neighbours.js';
import { figure, type Spread, table } from './statistics.js';
import type { ToolsFigures } from './tools.js';
import type { TurnsFigures } from './turns.js';

/** What a run is written down as. */
export interface Results {
  quick: boolean;
  conditions: Conditions;
  /** Shares of the machine's time during the run: used by anybody, and taken by its hypervisor. */
  machine?: { busy: number; steal: number };
  claim?: ClaimFigures;
  turns?: TurnsFigures[];
  messages?: MessagesFigures[];
  followers?: FollowersFigures;
  captures?: CapturesFigures[];
  tools?: ToolsFigures[];
  docker?: DockerFigures;
  neighbours?: NeighboursFigures[];
  idle?: IdleFigures[];
}

/** What the first version is to keep, measured in the same run as the floor. */
export const targets = {
  claimP50Ms: 25,
  dockerOverhead: 1.3,
  /** By the files of the workspace. */
  captureP50Ms: { 1_000: 30, 20_000: 200 } as Readonly<Record<number, number>>,
  loopDelayP50Ms: 10,
  /** `file.read` of 10 kB, in calls of a core tool. */
  readRatio: 3,
  /** `shell.exec` of `true`, beside the process itself. */
  execOverheadMs: 15,
} as const;

/** The results for people. */
export function report(results: Results): string {
  const { claim, turns, messages, followers, captures, tools, docker, neighbours, idle } = results;
  return [
    conditionsText(results),
    ...(claim ? [claimText(claim)] : []),
    ...(turns ? [turnsText(turns)] : []),
    ...(messages ? [messagesText(messages)] : []),
    ...(followers ? [followersText(followers)] : []),
    ...(captures ? [capturesText(captures)] : []),
    ...(tools ? [toolsText(tools)] : []),
    ...(docker ? [dockerText(docker)] : []),
    ...(neighbours ? [neighboursText(neighbours)] : []),
    ...(idle ? [idleText(idle)] : []),
    ...((claim ?? docker ?? captures ?? tools) ? [targetsText(results)] : []),
  ].join('\n\n');
}

function conditionsText({ quick, conditions, machine }: Results): string {
  const { commit, changed, cpu, cores, memoryBytes, kernel, node, redis, docker, loadBefore } = conditions;
  const rows = [
    ['commit', `${commit.slice(0, 12)}${changed ? ', with changes' : ''}${quick ? ', quick run' : ''}`],
    ['machine', `${cpu}, ${cores} cores, ${(memoryBytes / 1024 ** 3).toFixed(0)} GiB, Linux ${kernel}`],
    ['software', `Node ${node}, Redis ${redis}, Docker ${docker}`],
    ['load before', figure(loadBefore)],
    ...(machine ? [['during the run', `${percent(machine.busy)} busy, ${percent(machine.steal)} stolen`]] : []),
  ];
  return rows.map(([name = '', value = '']) => `${name.padEnd(16)}${value}`).join('\n');
}

function claimText({ claimMs, floorMs, ratio, stagesMs }: ClaimFigures): string {
  const row = (name: string, { p50, p90, p99 }: Spread) => [name, figure(p50), figure(p90), figure(p99)];
  return table([
    ['idle: message accepted -> turn claimed, ms', 'p50', 'p90', 'p99'],
    ...Object.entries(stagesMs).map(([name, stage]) => row(`  ${name}`, stage)),
    row('  in all', claimMs),
    row('  floor: BullMQ add -> process -> add -> process', floorMs),
    ['  times the floor', figure(ratio), '', ''],
  ]);
}

function turnsText(turns: readonly TurnsFigures[]): string {
  const services = Object.keys(turns[0]?.cpuMs ?? {});
  const named = turns.map(({ projects }) => `  ${projects} project${projects === 1 ? '' : 's'}`);
  return [
    table([
      ['whole turns a second, no-op backend', 'turns/s', 'floor/s', 'ratio'],
      ...turns.map(({ turnsPerSecond, floorPerSecond, ratio }, index) => [
        named[index] ?? '',
        figure(turnsPerSecond),
        figure(floorPerSecond),
        ratio.toFixed(3),
      ]),
    ]),
    table([
      ['processor time a turn, ms', ...services, 'in all'],
      ...turns.map(({ cpuMs }, index) => {
        const used = services.map((service) => cpuMs[service] ?? Number.NaN);
        return [named[index] ?? '', ...[...used, used.reduce((sum, ms) => sum + ms, 0)].map(figure)];
      }),
    ]),
  ].join('\n');
}

function messagesText(messages: readonly MessagesFigures[]): string {
  return table([
    ['messages accepted a second', 'accepted/s', 'floor/s', 'ratio'],
    ...messages.map(({ connections, acceptedPerSecond, floorPerSecond, ratio }) => [
      `  ${connections} connection${connections === 1 ? '' : 's'}`,
      figure(acceptedPerSecond),
      figure(floorPerSecond),
      figure(ratio),
    ]),
  ]);
}

function followersText({ followers, delayMs, floorDelayMs, delayRatio, ...rates }: FollowersFigures): string {
  const row = (name: string, { p50, p90, p99 }: Spread) => [name, figure(p50), figure(p90), figure(p99)];
  return table([
    [`${followers} followers: message sent -> event arrived, ms`, 'p50', 'p90', 'p99'],
    row('  one message at a time', delayMs),
    row('  floor', floorDelayMs),
    ['  times the floor', figure(delayRatio), '', ''],
    ['  events a second, many messages', figure(rates.eventsPerSecond), '', ''],
    ['  floor', figure(rates.floorEventsPerSecond), '', ''],
    ['  times the floor', figure(rates.rateRatio), '', ''],
  ]);
}

function capturesText(captures: readonly CapturesFigures[]): string {
  const row = (name: string, { p50, p90, p99 }: Spread) => [name, figure(p50), figure(p90), figure(p99)];
  return table([
    ['a capture after one small change, ms', 'p50', 'p90', 'p99'],
    ...captures.flatMap(({ files, captureMs, processorMs, walkMs, ratio, loopDelayMs, uploadedBytes, firstMs }) => [
      row(`  ${files} files`, captureMs),
      row('    processor time, in all threads', processorMs),
      row('    floor: a walk that reads nothing', walkMs),
      ['    times the floor', figure(ratio), '', ''],
      row('    the event loop was busy at most', loopDelayMs),
      ['    uploaded, kB', figure(uploadedBytes / 1_000), '', ''],
      ['    the first, of which everything is read', figure(firstMs), '', ''],
    ]),
  ]);
}

function toolsText(tools: readonly ToolsFigures[]): string {
  const row = (name: string, { p50, p90, p99 }: Spread) => [name, figure(p50), figure(p90), figure(p99)];
  return table([
    ['tool calls of a turn, ms', 'p50', 'p90', 'p99'],
    ...tools.flatMap(({ backend, coreMs, readMs, readRatio, execMs, processMs, ...beside }) => [
      [`  backend ${backend}`, '', '', ''],
      row('    artifacts.list', coreMs),
      row('    file.read of 10 kB', readMs),
      ['    times artifacts.list', figure(readRatio), '', ''],
      row('    shell.exec of true', execMs),
      row('    its process, from start to end', processMs),
      row('    beside it', beside.execOverheadMs),
      ['    times artifacts.list', figure(beside.execOverheadRatio), '', ''],
    ]),
  ]);
}

function dockerText({ turnMs, dockerRunMs, overhead, stagesMs, ...rates }: DockerFigures): string {
  const row = (name: string, { p50, p90, p99 }: Spread) => [name, figure(p50), figure(p90), figure(p99)];
  return table([
    ['a turn in a container, ms', 'p50', 'p90', 'p99'],
    row('  turn, claim -> complete', turnMs),
    ...Object.entries(stagesMs).map(([name, p50]) => [`    ${name}`, figure(p50), '', '']),
    row('  docker run, same image and limits', dockerRunMs),
    ['  times docker run', figure(overhead), '', ''],
    ['  turns a second', figure(rates.turnsPerSecond), '', ''],
    ['  docker runs a second', figure(rates.dockerRunsPerSecond), '', ''],
  ]);
}

function neighboursText(neighbours: readonly NeighboursFigures[]): string {
  const cell = ({ p50, p99, max }: Numbers) => [p50, p99, max].map(figure).join(' ');
  return table([
    [
      'beside others, ms: p50 p99 max',
      'heartbeats',
      'wakes',
      'starts',
      'starts before',
      'leases lost',
      'ToolHost, MiB',
    ],
    ...neighbours.flatMap(({ attack, work, besideAttack, besideWork }) => [
      ...(
        [
          [attack, besideAttack],
          [`  work: ${work}`, besideWork],
        ] as const
      ).map(([name, seen]) => [
        `  ${name}`,
        cell(seen.heartbeatMs),
        cell(seen.wakeMs),
        cell(seen.startMs),
        String(seen.startsBefore),
        String(seen.leasesLost),
        figure(seen.toolhostBytes / 1024 ** 2),
        Object.entries(seen.answers)
          .map(([answer, count]) => `${answer}: ${count}`)
          .join(', '),
      ]),
      [
        '    p99, times that beside work',
        ...(['heartbeatMs', 'wakeMs', 'startMs'] as const).map((what) =>
          figure(besideAttack[what].p99 / besideWork[what].p99),
        ),
        '',
        '',
        '',
        '',
      ],
    ]),
  ]);
}

function idleText(idle: readonly IdleFigures[]): string {
  const services = Object.keys(idle[0]?.cpuMsPerSecond ?? {});
  return table([
    ['running projects without mail', ...services],
    ...idle.flatMap(({ projects, cpuMsPerSecond, memoryBytes }) => [
      [`  ${projects}: processor, ms a second`, ...services.map((name) => figure(cpuMsPerSecond[name] ?? Number.NaN))],
      [`  ${projects}: memory, MiB`, ...services.map((name) => figure((memoryBytes[name] ?? Number.NaN) / 1024 ** 2))],
    ]),
  ]);
}

function targetsText({ claim, docker, captures = [], tools = [] }: Results): string {
  const say = (name: string, value: number, target: number) =>
    `target ${name} <= ${target}: ${value <= target ? 'met' : 'MISSED'} (${figure(value)})`;
  return [
    ...(claim ? [say('claim p50 ms', claim.claimMs.p50, targets.claimP50Ms)] : []),
    ...(docker ? [say('Docker turn / docker run', docker.overhead, targets.dockerOverhead)] : []),
    ...captures.flatMap(({ files, captureMs, loopDelayMs }) => [
      say(`capture p50 ms, ${files} files`, captureMs.p50, targets.captureP50Ms[files] ?? Number.NaN),
      say(`event loop p50 ms, ${files} files`, loopDelayMs.p50, targets.loopDelayP50Ms),
    ]),
    ...tools.flatMap(({ backend, readRatio, execOverheadMs }) => [
      say(`file.read / core tool, ${backend}`, readRatio, targets.readRatio),
      say(`shell.exec p50 ms beside its process, ${backend}`, execOverheadMs.p50, targets.execOverheadMs),
    ]),
  ].join('\n');
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
