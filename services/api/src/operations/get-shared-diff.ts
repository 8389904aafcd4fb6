import { setTimeout as sleep } from 'node:timers/promises';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { SharedDiffView } from '@suzumio/contract/model/shared-repository';
import type { sharedRepository } from '@suzumio/contract/operations/shared-repository';
import type { Comparison } from '@suzumio/protocol/repository-diff';
import { asSeenBy } from '@suzumio/protocol/worker-presence';
import {
  askForDiff,
  type DiffState,
  objectNamed,
  stateOfDiff,
  takeDiffBack,
} from '@suzumio/store/content/repository-diffs';
import { requireSharing } from '@suzumio/store/content/shared-pushes';
import { projectRow } from '@suzumio/store/rows';
import type { Call } from '../call.js';
import type { ApiContext } from '../context.js';
import type { OpenAccess } from '../open-access.js';
import { waitSignal } from './wait-signal.js';

/** How often a request looks whether its diff is there. */
const lookMs = 250;

type Asked = Call<(typeof sharedRepository)['getSharedDiff']>;

/** Answers with a diff that is kept, or has a worker make it and waits for that. */
export async function getSharedDiff(call: Asked, access: OpenAccess): Promise<SharedDiffView> {
  const { context, query, params } = call;
  const comparison = await call.read((reader, { config }): Comparison => {
    requireSharing(config);
    const { from, to, common } = query;
    const old = from === undefined ? null : objectNamed(reader, from);
    return { from: old, to: objectNamed(reader, to), common: common && old !== null };
  });
  const allowed = access.of(call.response);
  const signal = waitSignal(call.response, allowed, query.timeout);
  for (let isBusy = false; ;) {
    const state = await call.read((reader) => stateOfDiff(reader, comparison, context.cell.context.now()));
    if (state.kind === 'free') isBusy = (await ask(call, comparison)) === 'busy';
    else {
      const diff = madeIn(state);
      if (diff) return { ...comparison, ...diff };
      isBusy = false;
    }
    allowed.throwIfAborted();
    if (signal.aborted) throw pending(params.project, isBusy);
    await sleep(lookMs, undefined, { signal }).catch(() => undefined);
  }
}

/** @throws SuzumioError why there is none */
function madeIn(state: DiffState) {
  if (state.kind === 'refused') throw new SuzumioError(state.refused.code, state.refused.message);
  return state.kind === 'made' ? state.diff : undefined;
}

/**
 * Puts a comparison on the queue, unless that was done, or another one of the project is made now.
 *
 * @throws SuzumioError `git-diff-no-worker`, `git-diff-too-large`, `server-unreachable`, `store-busy`
 */
async function ask(call: Asked, comparison: Comparison): Promise<'asked' | 'busy'> {
  const { context } = call;
  await requireSomeWorker(context);
  context.cell.disk.require('rows');
  return call.withProject(async (store) => {
    const answer = await store.write((tx) => askForDiff(tx, comparison));
    if (answer === 'busy') return 'busy';
    if (!('asked' in answer)) return 'asked';
    const { project } = store;
    const { epoch } = projectRow(store.reader);
    try {
      await context.transport.addRepositoryDiff({ cell: context.cell.id, project, epoch, diff: answer.asked });
    } catch (error) {
      await store.write((tx) => takeDiffBack(tx, answer.asked));
      throw error;
    }
    return 'asked';
  });
}

/** @throws SuzumioError `git-diff-no-worker`, `server-unreachable` */
async function requireSomeWorker({ cell, transport, unserved }: ApiContext): Promise<void> {
  if (unserved === true) {
    throw new SuzumioError(
      'git-diff-no-worker',
      'Commits are compared by a worker, and nothing runs here now: start it (suzumio serve), or get the repository (suzumio git bundle).',
    );
  }
  const own = (await transport.fleet()).flatMap((worker) => asSeenBy(cell.id, worker) ?? []);
  if (own.some(({ slots, state = 'ready' }) => slots > 0 && state === 'ready')) return;
  throw new SuzumioError(
    'git-diff-no-worker',
    own.length === 0
      ? 'Commits are compared by a worker, and none is online: start one, and ask again (suzumio workers).'
      : 'Commits are compared by a worker, and none of those that are online takes work now (suzumio workers).',
  );
}

function pending(project: string, isBusy: boolean): SuzumioError {
  return new SuzumioError(
    'git-diff-pending',
    isBusy
      ? `Two other commits of ${project} are being compared: ask again in a moment.`
      : 'The commits are being compared: ask again in a moment.',
  );
}
