import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from '../test/support/stack.js';
import { BenchProject } from './bench-project.js';
import { Followers, type HttpTarget } from './http-load.js';
import { type Spread, median, spread } from './statistics.js';

export interface LivePlan {
  /** At once; the first of them prints much. */
  turns: number;
  /** What the loud one prints, and what each of the others does. */
  loudBytes: number;
  quietBytes: number;
  rounds: number;
}

export interface LiveFigures {
  turns: number;
  /** From the moment that all of them print to the end of the last turn, with a follower of each turn and without. */
  followedMs: Spread;
  aloneMs: Spread;
  /** The median of the rounds' own ratios. */
  ratio: number;
}

const patienceMs = 60_000;
const lookMs = 20;

/** Turns that print, by turns with a follower of each and without. */
export async function measureLive(stack: Stack, plan: LivePlan): Promise<LiveFigures> {
  const agents = Array.from({ length: plan.turns }, (_none, at) => (at === 0 ? 'loud' : `quiet-${at}`));
  const project = await BenchProject.start(
    stack,
    'bench-live',
    agents.map((agent) => `${agent}: { role: builder, prompt: Build., tools: [] }`),
    {
      backend: {
        kind: 'process',
        runner: {
          mode: 'mock',
          script: agents.map((agent) => ({
            agent,
            steps: [{ run: { command: printing(agent === 'loud' ? plan.loudBytes : plan.quietBytes) } }],
          })),
        },
      },
    },
  );
  const rounds = { followed: [] as number[], alone: [] as number[] };
  let number = 0;
  const play = async (isFollowed: boolean) => {
    number += 1;
    return round(stack, project, { agents, number, isFollowed });
  };
  try {
    // The first round is the warm-up.
    for (let done = 0; done <= plan.rounds; done += 1) {
      const [alone, followed] = [await play(false), await play(true)];
      if (done === 0) continue;
      rounds.alone.push(alone);
      rounds.followed.push(followed);
    }
  } finally {
    project.close();
  }
  return {
    turns: plan.turns,
    followedMs: spread(rounds.followed),
    aloneMs: spread(rounds.alone),
    ratio: median(rounds.followed.map((ms, at) => ms / (rounds.alone[at] ?? Number.NaN))),
  };
}

/** Says in a file that it runs, prints a line now and then until the file is there that its mail names, then so many bytes. */
function printing(bytes: number): string {
  return `: > {{mail.0.body}}.$$; while [ ! -e {{mail.0.body}} ]; do echo waiting; sleep 0.1; done; yes "a line of a build" | head -c ${bytes}`;
}

interface Round {
  agents: readonly string[];
  number: number;
  isFollowed: boolean;
}

async function round(stack: Stack, project: BenchProject, { agents, number, isFollowed }: Round): Promise<number> {
  const go = join(stack.root, `go-${number}`);
  const sinceMs = Date.now();
  for (const agent of agents) await project.post(agent, go);
  await printingAll(stack.root, `go-${number}.`, agents.length);
  const followers = isFollowed
    ? await Promise.all(agents.map((agent) => shown(project.target(`turns/${agent}:${number}/live`))))
    : [];
  const begunMs = Date.now();
  await writeFile(go, '');
  await project.idle();
  const { count, endedMs } = project.turnsSince(sinceMs);
  for (const follower of followers) follower.close();
  if (count !== agents.length) throw new Error(`${count} turns were made`);
  return endedMs - begunMs;
}

/** A follower who has been told something: the runner knows of it. */
async function shown(target: HttpTarget): Promise<Followers> {
  const follower = await Followers.connect(target, 1);
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`nothing of ${target.url} was shown`)), patienceMs);
    follower.listen(() => {
      clearTimeout(late);
      resolve();
    });
  });
  return follower;
}

/** Waits until so many commands have said that they run: whoever is followed or not, the same is measured from then on. */
async function printingAll(directory: string, prefix: string, wanted: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const count = (await readdir(directory)).filter((name) => name.startsWith(prefix)).length;
    if (count >= wanted) return;
    if (performance.now() > deadline) throw new Error(`${count} of ${wanted} commands run`);
    await sleep(lookMs);
  }
}
