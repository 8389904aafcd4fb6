import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configDefaults } from '@suzumio/core/config/defaults';
import { defaultTurnDir } from '@suzumio/protocol/door';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import { eventually } from '../test/support/poll.js';
import { docker } from '../test/support/images.js';
import type { Stack } from '../test/support/stack.js';
import { BenchProject, type MeasuredTurn } from './bench-project.js';
import { clockMs } from './marks.js';
import { median, type Spread, spread } from './statistics.js';

export interface DockerPlan {
  warmUp: number;
  /** Rounds of one turn and one `docker run`. */
  rounds: number;
  /** Rounds of several at a time. */
  crowdRounds: number;
  crowd: number;
  /** How many containers run at a time. */
  slots: number;
}

export interface DockerFigures {
  turnMs: Spread;
  dockerRunMs: Spread;
  /** The rounds' own ratios. */
  overhead: Spread;
  stagesMs: Record<string, Spread>;
  turnsPerSecond: Spread;
  dockerRunsPerSecond: number;
}

const projectName = 'bench-docker';

/** A turn in a container beside `docker run` of the same image, with the same limits and mounts, by turns. */
export async function measureDocker(stack: Stack, plan: DockerPlan): Promise<DockerFigures> {
  const project = await BenchProject.start(stack, projectName, [
    'solo: { role: solo, prompt: Read. }',
    `crowd: { role: crowd, prompt: Read., count: ${plan.crowd} }`,
  ]);
  const bare = await prepareBareTurns(plan.slots);
  /** Containers are removed in the background; the next slice must not pay for it. */
  const tidy = () =>
    eventually(
      'the containers of turns are removed',
      async () => (await docker('ps', '--all', '--quiet', '--filter', `label=suzumio.project=${projectName}`)) === '',
    );
  const runTurn = async () => {
    await project.post('solo', 'Read this.');
    await project.idle();
    await tidy();
    return project.lastTurn();
  };
  try {
    for (let count = 0; count < plan.warmUp; count += 1) {
      await runTurn();
      await bare.runTimed();
    }
    const turns: MeasuredTurn[] = [];
    const runs: number[] = [];
    for (let round = 0; round < plan.rounds; round += 1) {
      turns.push(await runTurn());
      runs.push(await bare.runTimed());
    }
    const turnRates: number[] = [];
    const runRates: number[] = [];
    for (let round = 0; round < plan.crowdRounds; round += 1) {
      const begunMs = Date.now();
      await Promise.all(Array.from({ length: plan.crowd }, (_, index) => project.post(`crowd-${index + 1}`, 'Read.')));
      await project.idle();
      turnRates.push((plan.crowd * 1000) / (project.turnsSince(begunMs).endedMs - begunMs));
      await tidy();
      runRates.push(await bare.rate(plan.crowd));
    }
    const names = Object.keys(turns[0]?.stagesMs ?? {});
    return {
      turnMs: spread(turns.map(({ wallMs }) => wallMs)),
      dockerRunMs: spread(runs),
      overhead: spread(turns.map(({ wallMs }, round) => wallMs / (runs[round] ?? Number.NaN))),
      stagesMs: Object.fromEntries(
        names.map((name) => [name, spread(turns.map(({ stagesMs }) => stagesMs[name] ?? 0))]),
      ),
      turnsPerSecond: spread(turnRates),
      dockerRunsPerSecond: median(runRates),
    };
  } finally {
    project.close();
    await bare.remove();
  }
}

const user = { uid: 1000, gid: 1000 };

/** Turns without a turn, as many at a time as there are lanes. */
async function prepareBareTurns(lanes: number) {
  const root = await mkdtemp(join(tmpdir(), 'suzumio-bare-'));
  await chmod(root, 0o755);
  const runs = await Promise.all(Array.from({ length: lanes }, (_, lane) => prepareLane(join(root, `lane-${lane}`))));
  return {
    /** How long one took, from the command to its end; removing the container is not counted, as for a turn. */
    async runTimed(): Promise<number> {
      const [run] = runs;
      if (!run) throw new Error('a benchmark without slots');
      const { name, tookMs } = await run();
      await discard(name);
      return tookMs;
    },
    /** Each container is removed while the next ones run, as those of turns are. */
    async rate(count: number): Promise<number> {
      const left = Array.from({ length: count }).keys();
      const removals: Promise<void>[] = [];
      const begunAt = clockMs();
      const work = async (run: BareRun) => {
        while (!left.next().done) removals.push(discard((await run()).name));
      };
      await Promise.all(runs.map(work));
      const tookMs = clockMs() - begunAt;
      await Promise.all(removals);
      return (count * 1000) / tookMs;
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** Runs a container to its end; its name and its time. */
type BareRun = () => Promise<{ name: string; tookMs: number }>;

/** One turn's directories: what the runner reads, and where it writes. Two containers never share them. */
async function prepareLane(lane: string): Promise<BareRun> {
  const [turn, door, workspace] = [join(lane, 'turn'), join(lane, 'door'), join(lane, 'workspace')];
  for (const directory of [lane, turn, door, workspace, join(turn, 'door')]) await mkdir(directory);
  for (const directory of [turn, workspace]) await chown(directory, user.uid, user.gid);
  await writeFile(join(turn, 'input.json'), JSON.stringify(bareInput), { mode: 0o444 });
  const { image, docker: limits } = configDefaults.backend;
  const mount = (source: string, target: string, readOnly = false) =>
    `--mount=type=bind,source=${source},target=${target}${readOnly ? ',readonly' : ''}`;
  const options = [
    `--user=${user.uid}:${user.gid}`,
    '--network=none',
    '--read-only',
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
    '--init',
    `--memory=${limits.memory}`,
    `--memory-swap=${limits.memory}`,
    `--cpus=${limits.cpus}`,
    `--pids-limit=${limits.pids}`,
    '--ulimit=fsize=1073741824',
    ...Object.entries(limits.tmpfs).map(([path, size]) => `--tmpfs=${path}:rw,nosuid,nodev,mode=1777,size=${size}`),
    mount(turn, defaultTurnDir),
    mount(join(turn, 'input.json'), join(defaultTurnDir, 'input.json'), true),
    mount(door, join(defaultTurnDir, 'door'), true),
    mount(workspace, '/workspace'),
    '--log-opt=max-size=2m',
    '--log-opt=max-file=2',
  ];
  const output = join(turn, 'output.json');
  return async () => {
    const name = `suzumio-bare-${randomBytes(6).toString('hex')}`;
    const begunAt = clockMs();
    await docker('run', `--name=${name}`, ...options, image);
    const tookMs = clockMs() - begunAt;
    await readFile(output);
    await rm(output);
    return { name, tookMs };
  };
}

async function discard(name: string): Promise<void> {
  await docker('rm', '--force', name);
}

/** A turn whose script has nothing to do. */
const bareInput: RunnerTurnInput = {
  project: 'bare',
  agent: { id: 'solo', role: 'solo', prompt: 'Read.' },
  turn: { id: 'turn_01KB3Z00000000000000000000', prompt: 'Read.', mail: [] },
  workspace: '/workspace',
  controllerUrl: `unix:${defaultTurnDir}/door/door.sock`,
  token: 'none',
  runner: { mode: 'mock', script: [] },
  tools: [],
};
