import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from '../../test/support/stack.js';
import { BenchProject } from '../bench-project.js';
import { clockMs, heartbeatsBetween } from '../marks.js';
import { memoryByService } from '../services.js';
import { quantile } from '../statistics.js';
import { buildVisitor, pairs, startCrowd, type Way } from './crowd.js';

export interface NeighboursPlan {
  rounds: number;
  /** How long each way of working is watched at a time. */
  seconds: number;
  /** How many containers work beside the project that is watched. */
  containers: number;
}

export interface Numbers {
  p50: number;
  p99: number;
  max: number;
  samples: number;
}

/** What a project saw while others worked beside it. */
export interface Seen {
  /** How long the worker waited for the answer to each of its heartbeats, of all turns. */
  heartbeatMs: Numbers;
  /** From a message's acceptance to its turn's being queued, and to its claim. */
  wakeMs: Numbers;
  startMs: Numbers;
  /** The most turns of others that were claimed between a message and its own turn's claim. */
  startsBefore: number;
  leasesLost: number;
  /** What the ToolHost held at the end of a slice, at the most. */
  toolhostBytes: number;
  /** How often the others were answered with which status, or how their turns ended. */
  answers: Record<string, number>;
}

export interface NeighboursFigures {
  attack: string;
  work: string;
  besideAttack: Seen;
  besideWork: Seen;
}

/** How the others were answered, for people. */
export function answersText(figures: readonly NeighboursFigures[]): string {
  const line = (way: string, { answers }: Seen) =>
    `  ${way}: ${Object.entries(answers)
      .map(([answer, count]) => `${answer}: ${count}`)
      .join(', ')}`;
  return figures
    .flatMap(({ attack, work, besideAttack, besideWork }) => [line(attack, besideAttack), line(work, besideWork)])
    .join('\n');
}

interface Slice {
  heartbeatsMs: number[];
  turns: { wakeMs: number; startMs: number; startsBefore: number }[];
  leasesLost: number;
  toolhostBytes: number;
  answers: Record<string, number>;
}

const pauseMs = 100;
const beginMs = 1_500;
const lookMs = 20;
/** For what was asked last to be answered. */
const settleMs = 3_000;
/** A turn that has not ended by then counts as one that took as long. */
const patienceMs = 60_000;

/**
 * What a project notices of others on the same cell and worker: its heartbeats, wakes and starts beside containers that
 * attack, in turn with those beside as many containers that work.
 */
export async function measureNeighbours(
  stack: Stack,
  { marks, model }: { marks: string; model: string },
  plan: NeighboursPlan,
): Promise<NeighboursFigures[]> {
  await buildVisitor();
  const ways = [...new Set(pairs.flatMap(({ attack, work }): Way[] => [work, attack]))];
  // One of its agents is in the middle of a turn all the time.
  const stay = [{ agent: 'steady', steps: [{ wait: '2h' }] }];
  const watched = await BenchProject.start(
    stack,
    'bench-watched',
    ['solo: { role: solo, prompt: Read. }', 'steady: { role: steady, prompt: Stay. }'],
    {
      backend: { docker: { keep: 'never' }, runner: { mode: 'mock', script: stay } },
      turn: { timeout: '3h' },
    },
  );
  const slices = new Map<Way, Slice[]>(ways.map((way) => [way, []]));
  let crowds = 0;
  try {
    await watched.post('steady', 'Stay.');
    for (let round = 0; round < plan.rounds; round += 1) {
      for (const way of ways) {
        crowds += 1;
        const seconds = plan.seconds + beginMs / 1000;
        const crowd = await startCrowd(stack, `bench-crowd-${crowds}`, { ...plan, way, seconds, model });
        await sleep(beginMs);
        const slice = await watch(stack, watched, crowd, marks, plan.seconds);
        slices.get(way)?.push({ ...slice, answers: await answersTo(crowd) });
        await crowd.stop();
        crowd.close();
      }
    }
    await watched.stop();
  } finally {
    watched.close();
  }
  return pairs.map(({ attack, work }) => ({
    attack,
    work,
    besideAttack: seen(slices.get(attack) ?? []),
    besideWork: seen(slices.get(work) ?? []),
  }));
}

/** Sends messages, one at a time, until the slice is over. */
async function watch(
  stack: Stack,
  watched: BenchProject,
  crowd: BenchProject,
  marks: string,
  seconds: number,
): Promise<Omit<Slice, 'answers'>> {
  const fromMs = clockMs();
  const leasesLost = () => [watched, crowd].flatMap((project) => project.rows(lostLeases)).length;
  const lostBefore = leasesLost();
  const turns: Slice['turns'] = [];
  while (clockMs() < fromMs + seconds * 1000) {
    turns.push(await oneTurn(watched, crowd));
    await sleep(pauseMs);
  }
  return {
    heartbeatsMs: heartbeatsBetween(marks, fromMs, clockMs()),
    turns,
    leasesLost: leasesLost() - lostBefore,
    toolhostBytes: memoryByService(stack).toolhost ?? Number.NaN,
  };
}

const lostLeases = `SELECT 1 FROM turn_attempts WHERE failure_json ->> 'code' IN ('lease-expired', 'worker-lost')`;

/** What those who work for a time say when it is over. */
async function answersTo(crowd: BenchProject): Promise<Record<string, number>> {
  await sleep(settleMs);
  const turns = crowd.rows<{ text: string | null; code: string | null }>(
    `SELECT output_text AS text, failure_json ->> 'code' AS code FROM turns WHERE ended_at_ms IS NOT NULL`,
  );
  const answers = turns.map(({ text, code }) => {
    if (code !== null) return { [code]: 1 };
    return text?.startsWith('{') === true ? (JSON.parse(text) as Record<string, number>) : {};
  });
  return sumOf(answers);
}

function sumOf(counts: readonly Record<string, number>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const [name, count] of counts.flatMap((each) => Object.entries(each))) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** How long one message waited, and for whom; a turn that never starts is given up. */
async function oneTurn(watched: BenchProject, crowd: BenchProject): Promise<Slice['turns'][number]> {
  const { id } = await watched.post('solo', 'Read this.');
  const untilMs = clockMs() + patienceMs;
  let turn: WatchedTurn | undefined;
  while (!(turn = turnOf(watched, id)) && clockMs() < untilMs) await sleep(lookMs);
  if (!turn)
    return { wakeMs: patienceMs, startMs: patienceMs, startsBefore: attemptsSince(crowd, Date.now() - patienceMs) };
  const { acceptedMs, queuedMs, claimedMs, status } = turn;
  if (status !== 'completed') throw new Error(`the watched turn is ${status}`);
  const startsBefore = attemptsSince(crowd, acceptedMs, claimedMs);
  return { wakeMs: queuedMs - acceptedMs, startMs: claimedMs - acceptedMs, startsBefore };
}

interface WatchedTurn {
  acceptedMs: number;
  queuedMs: number;
  claimedMs: number;
  status: string;
}

/** The turn that read a message, once it has ended. */
function turnOf(watched: BenchProject, id: string): WatchedTurn | undefined {
  const [turn] = watched.rows<WatchedTurn>(
    `SELECT m.created_at_ms AS acceptedMs, t.queued_at_ms AS queuedMs, t.started_at_ms AS claimedMs, t.status
     FROM messages m JOIN message_reads r ON r.message_id = m.id JOIN turns t ON t.id = r.turn_id
     WHERE m.id = :id AND t.ended_at_ms IS NOT NULL`,
    { id },
  );
  return turn;
}

function attemptsSince(crowd: BenchProject, fromMs: number, untilMs = Number.MAX_SAFE_INTEGER): number {
  const between = 'SELECT 1 FROM turn_attempts WHERE started_at_ms > :fromMs AND started_at_ms < :untilMs';
  return crowd.rows(between, { fromMs, untilMs }).length;
}

function seen(slices: readonly Slice[]): Seen {
  const turns = slices.flatMap((slice) => slice.turns);
  return {
    heartbeatMs: numbers(slices.flatMap((slice) => slice.heartbeatsMs)),
    wakeMs: numbers(turns.map(({ wakeMs }) => wakeMs)),
    startMs: numbers(turns.map(({ startMs }) => startMs)),
    startsBefore: Math.max(...turns.map(({ startsBefore }) => startsBefore)),
    leasesLost: slices.reduce((sum, slice) => sum + slice.leasesLost, 0),
    toolhostBytes: Math.max(...slices.map((slice) => slice.toolhostBytes)),
    answers: sumOf(slices.map(({ answers }) => answers)),
  };
}

function numbers(samples: readonly number[]): Numbers {
  const at = (share: number) => quantile(samples, share);
  return { p50: at(0.5), p99: at(0.99), max: Math.max(...samples), samples: samples.length };
}
