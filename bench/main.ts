// npm run bench: what the hot path costs, beside what its parts cost by themselves.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Stack, type StackOptions, startStack } from '../test/support/stack.js';
import { measureCaptures } from './captures.js';
import { measureClaims } from './claim.js';
import { compare, comparisonText } from './compare.js';
import { readConditions, watchMachine } from './conditions.js';
import { measureDocker } from './docker.js';
import { type Floor, startFloor } from './floor.js';
import { measureFollowers } from './followers.js';
import { type HttpFloor, startHttpFloor } from './http-floor.js';
import { measureIdle } from './idle.js';
import { measureLive } from './live.js';
import { measureMessages } from './messages.js';
import { startModel } from './neighbours/crowd.js';
import { answersText, measureNeighbours } from './neighbours/neighbours.js';
import { measureParts, type Part } from './parts.js';
import { type Results, report } from './report.js';
import {
  capturesRows,
  claimRows,
  dockerRows,
  followersRows,
  idleRows,
  liveRows,
  messagesRows,
  neighboursRows,
  type Row,
  toolsRows,
  turnsRows,
  webRows,
} from './rows.js';
import { measureTools } from './tools.js';
import { measureTurns } from './turns.js';
import { measureWeb } from './web.js';

/** What `scripts/bench.mjs` was asked for. */
interface Options {
  quick: boolean;
  only?: string;
  out?: string;
  compare?: string;
  profile?: string;
  /** Drives the page; there is one where the page is to be measured. */
  browser?: string;
}

const { quick, only, out, compare: compareWith, profile, browser } = JSON.parse(process.argv[2] ?? '') as Options;
const tokens = 16;
const plans = quick
  ? {
      claim: { warmUp: 15, slices: 3, messagesPerSlice: 15 },
      turns: { rounds: 2, hops: 6, floorHops: 50, tokens },
      messages: { rounds: 2, messagesPerRound: 200 },
      followers: { followers: 100, rounds: 2, paced: 15, burst: 50 },
      captures: { files: [1_000], rounds: 5 },
      tools: { calls: 5, slices: 3 },
      live: { turns: 4, loudBytes: 5_000_000, quietBytes: 100_000, rounds: 2 },
      web: { messages: 400, agents: 20, hops: 4, views: 2, events: 10, memoryMs: 10_000 },
      docker: { warmUp: 1, rounds: 4, crowdRounds: 1, crowd: 4, slots: 2 },
      neighbours: { rounds: 1, seconds: 5, containers: 3 },
      idle: { projects: 20, measureMs: 3_000 },
    }
  : {
      claim: { warmUp: 50, slices: 10, messagesPerSlice: 30 },
      turns: { rounds: 8, hops: 16, floorHops: 100, tokens },
      messages: { rounds: 10, messagesPerRound: 2_000 },
      followers: { followers: 100, rounds: 8, paced: 25, burst: 200 },
      captures: { files: [1_000, 20_000], rounds: 20 },
      tools: { calls: 10, slices: 20 },
      live: { turns: 10, loudBytes: 100_000_000, quietBytes: 100_000, rounds: 5 },
      web: { messages: 10_000, agents: 200, hops: 10, views: 5, events: 100, memoryMs: 600_000 },
      docker: { warmUp: 3, rounds: 25, crowdRounds: 4, crowd: 12, slots: 2 },
      neighbours: { rounds: 3, seconds: 20, containers: 3 },
      idle: { projects: 1_000, measureMs: 20_000 },
    };
const noopWorker = fileURLToPath(new URL('noop-worker.ts', import.meta.url));
const hooks = ['--import', new URL('hooks.mjs', import.meta.url).href];

/** What is measured is what the services can do, not what one token may ask of them. */
const unlimited = { SUZUMIO_READS_PER_SECOND: '0', SUZUMIO_WRITES_PER_SECOND: '0' };

const parts = new Map<string, Part>([
  ['claim', claim],
  ['turns', turns],
  ['messages', messages],
  ['followers', followers],
  ['captures', async () => capturesRows(await measureCaptures(plans.captures))],
  ['tools', tools],
  ['live', live],
  ['docker', inContainers],
  ['neighbours', besideOthers],
  ['idle', idle],
  ['web', web],
]);
/** These take minutes: several slices of each way to work, many projects to make, a page to be watched. */
const long = ['neighbours', 'idle', 'web'];
const wanted = [...parts].filter(([part]) => (only === undefined ? !quick || !long.includes(part) : part === only));

const earlier =
  compareWith === undefined ? undefined : (JSON.parse(await readFile(compareWith, 'utf8')) as Results).rows;
const results: Results = { quick, conditions: await readConditions(), rows: [], failed: [] };
const file = out ?? join(import.meta.dirname, 'results', `${results.conditions.startedAt.replaceAll(':', '')}.json`);
await mkdir(dirname(file), { recursive: true });
const machine = watchMachine();
await measureParts(new Map(wanted), results, async () => {
  const share = machine();
  if (share) results.machine = share;
  await writeFile(file, `${JSON.stringify(results, undefined, 2)}\n`);
});
console.log(`\n${report(results)}\n\nwritten to ${file}`);
if (earlier) {
  const ofWanted = earlier.filter(({ name }) => wanted.some(([part]) => name.startsWith(`${part}:`)));
  console.log(`\n${comparisonText(compare(ofWanted, results.rows))}`);
}
if (results.failed.length > 0) process.exitCode = 1;

async function claim(): Promise<Row[]> {
  return withMarks((marks) =>
    withFloor(
      { slots: tokens, workerProgram: noopWorker, modules: true, environment: { BENCH_MARKS: marks } },
      async (stack, floor) => claimRows(await measureClaims(stack, floor, marks, plans.claim)),
    ),
  );
}

/** With a backend that costs nothing. */
async function turns(): Promise<Row[]> {
  return withFloor({ slots: tokens, workerProgram: noopWorker }, async (stack, floor) =>
    turnsRows(await measureTurns(stack, floor, [1, 8], plans.turns)),
  );
}

function messages(): Promise<Row[]> {
  return overHttp(async (stack, floor) =>
    messagesRows(await measureMessages(stack, floor, [1, 16, 64], plans.messages)),
  );
}

function followers(): Promise<Row[]> {
  return overHttp(async (stack, floor) => followersRows(await measureFollowers(stack, floor, plans.followers)));
}

/** What is asked of the API alone: no project runs. */
function overHttp(measure: (stack: Stack, floor: HttpFloor) => Promise<Row[]>): Promise<Row[]> {
  return withStack({ slots: tokens, workerProgram: noopWorker }, async (stack) => {
    const floor = await startHttpFloor();
    try {
      return await measure(stack, floor);
    } finally {
      await floor.stop();
    }
  });
}

/** In a container, and as a process, where no engine is between the runner and its door. */
function tools(): Promise<Row[]> {
  const options: StackOptions = {
    backends: ['docker', 'process'],
    policy: { ceilings: { maxToolCalls: 100_000 } },
  };
  return withStack(options, async (stack) => toolsRows(await measureTools(stack, ['docker', 'process'], plans.tools)));
}

function inContainers(): Promise<Row[]> {
  return withStack({ slots: plans.docker.slots }, async (stack) =>
    dockerRows(await measureDocker(stack, plans.docker)),
  );
}

async function besideOthers(): Promise<Row[]> {
  const { containers } = plans.neighbours;
  const model = await startModel();
  try {
    return await withMarks((marks) => {
      const options: StackOptions = {
        // One for the turn that goes on all the time, one for those that are watched.
        slots: containers + 2,
        // Marks of heartbeats come from hooks.
        modules: true,
        environment: { BENCH_MARKS: marks, BENCH_MODEL_KEY: 'none' },
        policy: {
          providers: [{ baseURL: model.baseURL, apiKeyEnv: 'BENCH_MODEL_KEY' }],
          ceilings: { maxSteps: 100_000, maxToolCalls: 100_000 },
        },
      };
      return withStack(options, async (stack) => {
        const seen = await measureNeighbours(stack, { marks, model: model.baseURL }, plans.neighbours);
        console.log(answersText(seen));
        return neighboursRows(seen);
      });
    });
  } finally {
    await model.close();
  }
}

function idle(): Promise<Row[]> {
  return withStack({ slots: tokens, workerProgram: noopWorker }, async (stack) =>
    idleRows(await measureIdle(stack, plans.idle)),
  );
}

/** Turns of the runner itself, as processes: what they print is what is measured. */
function live(): Promise<Row[]> {
  return withStack({ slots: plans.live.turns, backends: ['process'] }, async (stack) =>
    liveRows(await measureLive(stack, plans.live)),
  );
}

function web(): Promise<Row[]> {
  if (browser === undefined) throw new Error('there is no browser');
  return withStack({ slots: tokens, workerProgram: noopWorker }, async (stack) =>
    webRows(await measureWeb(stack, browser, plans.web)),
  );
}

async function withMarks<Result>(measure: (marks: string) => Promise<Result>): Promise<Result> {
  const marks = await mkdtemp(join(tmpdir(), 'suzumio-marks-'));
  try {
    return await measure(marks);
  } finally {
    await rm(marks, { recursive: true, force: true });
  }
}

function withFloor(options: StackOptions, measure: (stack: Stack, floor: Floor) => Promise<Row[]>): Promise<Row[]> {
  return withStack(options, async (stack) => {
    const floor = await startFloor(stack.redis.port, tokens);
    try {
      return await measure(stack, floor);
    } finally {
      await floor.stop();
    }
  });
}

async function withStack(options: StackOptions, measure: (stack: Stack) => Promise<Row[]>): Promise<Row[]> {
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const stack = await startStack({
    ...options,
    nodeArguments: [...hooks, ...profiling],
    environment: { ...options.environment, ...unlimited, SUZUMIO_LOG_LEVEL: 'warn' },
  });
  try {
    return await measure(stack);
  } finally {
    await stack.stop();
  }
}
