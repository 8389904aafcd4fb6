import { once } from 'node:events';
import { chmod, chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxLimits } from '@suzumio/protocol/attempts';
import {
  comparePack,
  compareTask,
  comparisonOutcome,
  type ComparisonGranted,
  type ComparisonOutcome,
  maxComparedObjects,
  maxComparedPackBytes,
  maxComparisonBytes,
  type RepositoryDiffJob,
  taskVariable,
} from '@suzumio/protocol/repository-diff';
import { runnerProtocol } from '@suzumio/protocol/runner';
import { maxPackBytes } from '@suzumio/protocol/shared-repository';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Host } from '../attempt/host.js';
import { SizeWatch } from '../attempt/size-watch.js';
import { TurnDirectory } from '../attempt/turn-directory.js';
import type { AttemptPlace, PreparedSandbox, Sandbox } from '../engine/turn-engine.js';
import type { ComparisonClient } from '../toolhost/toolhost-client.js';
import { download } from '../workspace/content-exchange.js';

export interface CompareOptions {
  host: Pick<Host, 'engines' | 'disk' | 'paths' | 'policyOf' | 'limits'>;
  image: string;
  client: Pick<ComparisonClient, 'pack'>;
  /** Aborted when it has to end. */
  signal: AbortSignal;
  logger: Logger;
}

const mib = 1024 * 1024;
const maxLogBytes = 64 * 1024;

/** Packs, their indexes, and what Git writes beside them. */
const bounds = { maxBytes: maxComparedPackBytes + 100 * maxComparedObjects, maxEntries: 20_000 };

/**
 * Compares two commits in a sandbox that has nothing but their repository's packs: no network, no door, no token, no home, no
 * mount, and no file of any agent's workspace.
 *
 * @throws what `signal` was aborted with; an error that says why it could not be done
 */
export async function compareInSandbox(
  job: RepositoryDiffJob,
  { comparison, packs }: ComparisonGranted,
  options: CompareOptions,
): Promise<ComparisonOutcome> {
  const { host, image, client, signal, logger } = options;
  const engine = host.engines.docker ?? host.engines.process;
  if (!engine) throw new Error('This worker has no backend.');
  await host.disk.requireRoom();
  const sandbox = await engine.prepare(limitsOf(image, host.policyOf(job).ceilings), job);
  if (!sandbox.toolpacks.includes(comparePack)) {
    throw new Error(
      `The runner in the image ${image} is of an earlier release, which cannot compare commits. Bring the image to this release (npm run images).`,
    );
  }
  const place = placeOf(job);
  const directory = await TurnDirectory.create(host.paths, place, sandbox.owner);
  try {
    const workspace = join(directory.path, 'repository');
    await mkdir(workspace, { mode: 0o700 });
    const names: string[] = [];
    for (const [index, { sha256, sizeBytes }] of packs.entries()) {
      signal.throwIfAborted();
      const name = `pack-${String(index + 1)}.pack`;
      const file = join(workspace, name);
      await download({ sha256, sizeBytes }, `push ${String(index + 1)}`, file, (hash) => client.pack(hash));
      await chmod(file, 0o444);
      names.push(name);
    }
    if (sandbox.owner) await chown(workspace, sandbox.owner.uid, sandbox.owner.gid);
    await directory.writeInput({
      protocol: runnerProtocol,
      comparison,
      workspace: sandbox.workspaceSeen(workspace),
      packs: names,
    });
    return await run(sandbox, { ...options, directory, place, workspace });
  } finally {
    await directory
      .remove()
      .catch((error: unknown) =>
        logger.warn({ err: error }, 'the directory of a comparison could not be removed; the next start does'),
      );
  }
}

async function run(
  prepared: PreparedSandbox,
  {
    directory,
    place,
    workspace,
    host,
    signal,
    logger,
  }: CompareOptions & { directory: TurnDirectory; place: AttemptPlace; workspace: string },
): Promise<ComparisonOutcome> {
  signal.throwIfAborted();
  const sandbox = await prepared.start({
    ref: place,
    turnDirectory: directory.path,
    doorDirectory: directory.doorDirectory,
    temporary: directory.temporary,
    workspace,
    home: undefined,
    toolpacks: undefined,
    mounts: [],
    recheckMounts: () => undefined,
    input: { controllerUrl: '', token: '' },
    // Nothing answers there.
    onConnection: (connection) => connection.destroy(),
    maxFileBytes: maxPackBytes + 100 * maxComparedObjects,
    maxLogBytes,
  });
  let outcome: 'completed' | 'failed' = 'failed';
  try {
    const tooLarge = await untilEnded(sandbox, { directory, host, signal });
    if (tooLarge !== undefined) {
      const message = `Comparing them takes more room than there is for it: ${tooLarge}.`;
      return { refused: { code: 'git-diff-too-large', message } };
    }
    const { exitCode, oomKilled } = await sandbox.ended;
    if (exitCode !== 0) {
      const said = (await sandbox.log()).toString('utf8').trim().slice(-500);
      logger.warn({ exitCode, oomKilled, said }, 'a comparison has failed');
      if (oomKilled === true) {
        return {
          refused: { code: 'git-diff-too-large', message: 'Comparing them takes more memory than there is for it.' },
        };
      }
      throw new Error(`The comparison ended with exit code ${String(exitCode)}${said === '' ? '.' : `: ${said}`}`);
    }
    const read = await directory.readOutputAs(comparisonOutcome, maxComparisonBytes);
    if (read.kind !== 'valid') throw new Error('The comparison has handed in nothing that can be read.');
    outcome = 'completed';
    return read.output;
  } finally {
    sandbox.release(outcome);
  }
}

/**
 * Waits until the sandbox has ended, by itself or because it is killed: the time is over, or it takes too much of the disk.
 *
 * @returns how it took too much, if it did
 * @throws what `signal` was aborted with
 */
async function untilEnded(
  sandbox: Sandbox,
  { directory, host: { disk, limits }, signal }: Pick<CompareOptions, 'host' | 'signal'> & { directory: TurnDirectory },
): Promise<string | undefined> {
  let tooLarge: string | undefined;
  const over = new AbortController();
  const stop = new AbortController();
  const sizes = new SizeWatch({
    directories: () => [directory.path],
    bounds,
    unlinked: { bytes: () => sandbox.unlinkedBytes(), freeBytes: () => disk.freeBytes() },
    everyMs: limits.sizeCheckMs,
    now: () => performance.now(),
    onTooLarge: (why) => {
      tooLarge = why;
      stop.abort();
    },
  });
  const leave = disk.add({
    measure: () => sizes.measure(),
    end: (beyond) => {
      tooLarge = beyond ?? "the worker's disk is full";
      stop.abort();
    },
  });
  try {
    const killed = AbortSignal.any([signal, stop.signal]);
    const asked = killed.aborted
      ? Promise.resolve()
      : once(killed, 'abort', { signal: over.signal }).then(() => undefined);
    await Promise.race([sandbox.ended, asked.catch(() => undefined)]);
    if (killed.aborted) await sandbox.kill();
    await sandbox.ended;
  } finally {
    over.abort();
    leave();
    await sizes.stop();
  }
  if (tooLarge === undefined) signal.throwIfAborted();
  return tooLarge;
}

/** Within what the operator lets any turn have. */
function limitsOf(
  image: string,
  ceilings: { memory: number; cpus: number; pids: number; tmpfs: number },
): SandboxLimits {
  return {
    image,
    network: 'none',
    mounts: [],
    env: { [taskVariable]: compareTask },
    memoryBytes: Math.min(1024 * mib, ceilings.memory),
    cpus: Math.min(1, ceilings.cpus),
    pids: Math.min(64, ceilings.pids),
    readOnlyRoot: true,
    tmpfs: { '/tmp': Math.min(16 * mib, ceilings.tmpfs) },
    keep: 'never',
    keepForMs: 0,
  };
}

/** A place that no agent's attempt has: its sandboxes are nobody's predecessor. */
function placeOf({ cell, project, epoch, diff }: RepositoryDiffJob): AttemptPlace {
  return { cell, project, epoch, agent: '(diff)', turn: `diff-${String(diff)}`, attempt: 1, turnNumber: diff };
}
