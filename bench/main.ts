// npm run bench: what the hot path costs, beside what its parts cost by themselves.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Stack, type StackOptions, startStack } from '../test/support/stack.js';
import { measureCaptures } from './captures.js';
import { measureClaims } from './claim.js';
import { readConditions, watchMachine } from './conditions.js';
import { measureDocker } from './docker.js';
import { startFloor } from './floor.js';
import { measureFollowers } from './followers.js';
import { startHttpFloor } from './http-floor.js';
import { measureIdle } from './idle.js';
import { measureMessages } from './messages.js';
import { startModel } from './neighbours/crowd.js';
import { measureNeighbours } from './neighbours/neighbours.js';
import { options } from './options.js';
import { type Results, report } from './report.js';
import { measureTools } from './tools.js';
import { measureTurns } from './turns.js';

const { values } = parseArgs({ options });
const wants = (part: string) => values.only === undefined || values.only === part;
const { quick, profile } = values;
const tokens = 16;
const plans = quick
  ? {
      claim: { warmUp: 15, slices: 3, messagesPerSlice: 15 },
      turns: { rounds: 2, hops: 6, floorHops: 50, tokens },
      messages: { rounds: 2, messagesPerRound: 200 },
      followers: { followers: 100, rounds: 2, paced: 15, burst: 50 },
      captures: { files: [1_000], rounds: 5 },
      tools: { calls: 5, slices: 3 },
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
      docker: { warmUp: 3, rounds: 25, crowdRounds: 4, crowd: 12, slots: 2 },
      neighbours: { rounds: 3, seconds: 20, containers: 3 },
      idle: { projects: 1_000, measureMs: 20_000 },
    };
const noopWorker = fileURLToPath(new URL('noop-worker.ts', import.meta.url));
const hooks = ['--import', new URL('hooks.mjs', import.meta.url).href];

/** What is measured is what the services can do, not what one token may ask of them. */
const unlimited = { SUZUMIO_READS_PER_SECOND: '0', SUZUMIO_WRITES_PER_SECOND: '0' };

const results: Results = { quick, conditions: await readConditions() };
const machine = watchMachine();
if (wants('claim') || wants('turns')) await withoutContainers();
if (wants('messages') || wants('followers')) await overHttp();
if (wants('captures')) {
  console.log('captures of workspaces ...');
  results.captures = await measureCaptures(plans.captures);
}
if (wants('tools')) await withTools();
if (wants('docker')) await inContainers();
// These take minutes: several slices of each way to work, and many projects to make.
if (wants('neighbours') && (!quick || values.only === 'neighbours')) await besideOthers();
if (wants('idle') && (!quick || values.only === 'idle')) await idle();
const share = machine();
if (share) results.machine = share;

const file =
  values.out ?? join(import.meta.dirname, 'results', `${results.conditions.startedAt.replaceAll(':', '')}.json`);
await mkdir(dirname(file), { recursive: true });
await writeFile(file, `${JSON.stringify(results, undefined, 2)}\n`);
console.log(`\n${report(results)}\n\nwritten to ${file}`);

/** The services as processes, with turns that cost nothing. */
async function withoutContainers(): Promise<void> {
  const marks = await mkdtemp(join(tmpdir(), 'suzumio-marks-'));
  const options: StackOptions = {
    slots: tokens,
    workerProgram: noopWorker,
    environment: { BENCH_MARKS: marks },
  };
  try {
    await withStack(options, async (stack) => {
      const floor = await startFloor(stack.redis.port, tokens);
      try {
        if (wants('claim')) {
          console.log('message accepted -> turn claimed ...');
          results.claim = await measureClaims(stack, floor, marks, plans.claim);
        }
        if (wants('turns')) {
          console.log('whole turns per second, no-op backend ...');
          results.turns = await measureTurns(stack, floor, [1, 8], plans.turns);
        }
      } finally {
        await floor.stop();
      }
    });
  } finally {
    await rm(marks, { recursive: true, force: true });
  }
}

/** What is asked of the API alone: no project runs. */
async function overHttp(): Promise<void> {
  await withStack({ slots: tokens, workerProgram: noopWorker }, async (stack) => {
    const floor = await startHttpFloor();
    try {
      if (wants('messages')) {
        console.log('messages accepted ...');
        results.messages = await measureMessages(stack, floor, [1, 16, 64], plans.messages);
      }
      if (wants('followers')) {
        console.log('followers of events ...');
        results.followers = await measureFollowers(stack, floor, plans.followers);
      }
    } finally {
      await floor.stop();
    }
  });
}

/** In a container, and as a process, where no engine is between the runner and its door. */
async function withTools(): Promise<void> {
  console.log('tool calls of a turn ...');
  const options: StackOptions = {
    backends: ['docker', 'process'],
    policy: { ceilings: { maxToolCalls: 100_000 } },
  };
  await withStack(options, async (stack) => {
    results.tools = await measureTools(stack, ['docker', 'process'], plans.tools);
  });
}

async function inContainers(): Promise<void> {
  console.log('whole turns in containers ...');
  await withStack({ slots: plans.docker.slots }, async (stack) => {
    results.docker = await measureDocker(stack, plans.docker);
  });
}

async function besideOthers(): Promise<void> {
  console.log('a project beside others that attack ...');
  const { containers } = plans.neighbours;
  const marks = await mkdtemp(join(tmpdir(), 'suzumio-marks-'));
  const model = await startModel();
  const options: StackOptions = {
    // One for the turn that goes on all the time, one for those that are watched.
    slots: containers + 2,
    environment: { BENCH_MARKS: marks, BENCH_MODEL_KEY: 'none' },
    policy: {
      providers: [{ baseURL: model.baseURL, apiKeyEnv: 'BENCH_MODEL_KEY' }],
      ceilings: { maxSteps: 100_000, maxToolCalls: 100_000 },
    },
  };
  try {
    await withStack(options, async (stack) => {
      results.neighbours = await measureNeighbours(stack, { marks, model: model.baseURL }, plans.neighbours);
    });
  } finally {
    await model.close();
    await rm(marks, { recursive: true, force: true });
  }
}

async function idle(): Promise<void> {
  console.log('running projects without mail ...');
  await withStack({ slots: tokens, workerProgram: noopWorker }, async (stack) => {
    results.idle = await measureIdle(stack, plans.idle);
  });
}

async function withStack(options: StackOptions, measure: (stack: Stack) => Promise<void>): Promise<void> {
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const stack = await startStack({
    ...options,
    nodeArguments: [...hooks, ...profiling],
    environment: { ...options.environment, ...unlimited, SUZUMIO_LOG_LEVEL: 'warn' },
  });
  try {
    await measure(stack);
  } finally {
    await stack.stop();
  }
}
