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
  /** The median of the rounds' own ratios. */
  overhead: number;
  stagesMs: Record<string, number>;
  turnsPerSecond: number;
  dockerRunsPerSecond: number;
}

const projectName = 'bench-docker';

/** A turn in a container beside `docker run` of the same image, with the same limits and mounts, by turns. */
export async function measureDocker(stack: Stack, plan: DockerPlan): Promise<DockerFigures> {
  const project = await BenchProject.start(stack, projectName, [
    'solo: { role: solo, prompt: Read. }',
    `crowd: { role: crowd, prompt: Read., count: ${plan.crowd} }`,
  ]);
  const bare = await prepareBareTurn();
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
      runRates.push(await bare.rate(plan.crowd, plan.slots));
    }
    const names = Object.keys(turns[0]?.stagesMs ?? {});
    return {
      turnMs: spread(turns.map(({ wallMs }) => wallMs)),
      dockerRunMs: spread(runs),
      overhead: median(turns.map(({ wallMs }, round) => wallMs / (runs[round] ?? Number.NaN))),
      stagesMs: Object.fromEntries(
        names.map((name) => [name, median(turns.map(({ stagesMs }) => stagesMs[name] ?? 0))]),
      ),
      turnsPerSecond: median(turnRates),
      dockerRunsPerSecond: median(runRates),
    };
  } finally {
    project.close();
    await bare.remove();
  }
}

const user = { uid: 1000, gid: 1000 };

/** A turn's directories without a turn: what the runner reads, and where it writes. */
async function prepareBareTurn() {
  const root = await mkdtemp(join(tmpdir(), 'suzumio-bare-'));
  await chmod(root, 0o755);
  const [turn, door, workspace] = [join(root, 'turn'), join(root, 'door'), join(root, 'workspace')];
  for (const directory of [turn, door, workspace, join(turn, 'door')]) await mkdir(directory);
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
  const run = async () => {
    const name = `suzumio-bare-${randomBytes(6).toString('hex')}`;
    const begunAt = clockMs();
    await docker('run', `--name=${name}`, ...options, image);
    return { name, tookMs: clockMs() - begunAt };
  };
  const discard = async (name: string) => {
    await docker('rm', '--force', name);
  };
  return {
    /** How long one took, from the command to its end; removing the container is not counted, as for a turn. */
    async runTimed(): Promise<number> {
      const { name, tookMs } = await run();
      await discard(name);
      await readFile(join(turn, 'output.json'));
      await rm(join(turn, 'output.json'));
      return tookMs;
    },
    /** Each container is removed while the next ones run, as those of turns are. */
    async rate(count: number, atOnce: number): Promise<number> {
      const left = Array.from({ length: count }).keys();
      const removals: Promise<void>[] = [];
      const begunAt = clockMs();
      const lane = async () => {
        while (!left.next().done) removals.push(discard((await run()).name));
      };
      await Promise.all(Array.from({ length: atOnce }, lane));
      const tookMs = clockMs() - begunAt;
      await Promise.all(removals);
      return (count * 1000) / tookMs;
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
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
