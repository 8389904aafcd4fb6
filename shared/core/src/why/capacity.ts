import type { WhyReason } from '@suzumio/contract/model/why';
import { asSeenBy, hasImage, type WorkerPresence } from '@suzumio/protocol/worker-presence';
import type { CellFacts, Fleet, ProjectFacts } from './facts.js';
import { byHand, nextSteps } from './next-steps.js';
import { plural } from './words.js';

type Wanting = Pick<ProjectFacts, 'project' | 'turn'> & { runsIn: { backend: string; image: string } };

/**
 * What workers lack for a turn, or which turns precede it. Facts that a worker does not announce are assumed in its
 * favour.
 */
export function capacityReasons(
  { project, turn, runsIn }: Wanting,
  { id, fleet, waitingLine }: CellFacts,
): WhyReason[] {
  if (fleet === null || fleet === 'away') return [];
  const workers = fleet.workers.flatMap((worker) => asSeenBy(id, worker) ?? []);
  const elsewhere = fleet.workers.length - workers.length;
  if (workers.length === 0) {
    const others =
      elsewhere === 0 ? '' : `; ${plural(elsewhere, 'worker')} serve${elsewhere === 1 ? 's' : ''} other cells only`;
    return [
      { code: 'worker-missing', sentence: `No worker is connected${others}: turns wait for one.`, ...byHand('doctor') },
    ];
  }
  const able = workers.filter(({ backends }) => backends?.includes(runsIn.backend) ?? true);
  if (able.length === 0) {
    return [
      {
        code: 'backend-missing',
        sentence: `${connected(workers.length)}, but none runs turns with the backend ${runsIn.backend}: the policy of the worker has to allow it.`,
        ...byHand('policy show'),
      },
    ];
  }
  const ready = able.filter(({ state = 'ready', slots }) => state === 'ready' && slots > 0);
  if (ready.length === 0) return [noneReady(able)];
  if (runsIn.backend === 'docker' && ready.every(({ images }) => images && hasImage(images, runsIn.image) === false)) {
    return [
      {
        code: 'image-missing',
        sentence: `${connected(ready.length)}, but none has the image ${runsIn.image}: pull or build it there.`,
        ...nextSteps.workers(),
      },
    ];
  }
  return turn === null ? [] : place(project.id, turn, ready, { ...fleet, waitingLine });
}

function noneReady(workers: readonly WorkerPresence[]): WhyReason {
  const draining = workers.filter(({ state }) => state === 'draining').length;
  if (draining === workers.length) {
    return {
      code: 'workers-draining',
      sentence: `${connected(draining)}, but ${draining === 1 ? 'it is' : 'every one is'} draining: it ends what it runs and takes no more.`,
      ...nextSteps.workers(),
    };
  }
  const problems = [...new Set(workers.flatMap(({ problem }) => problem ?? []))];
  const why = problems.length === 0 ? '' : ` (${problems.join(', ')})`;
  return {
    code: 'workers-not-ready',
    sentence: `${connected(workers.length)}, but none can run turns now${why}.`,
    ...nextSteps.workers(),
  };
}

function place(
  project: string,
  turn: NonNullable<Wanting['turn']>,
  ready: readonly WorkerPresence[],
  { jobsAhead, waitingLine }: Fleet & Pick<CellFacts, 'waitingLine'>,
): WhyReason[] {
  const slots = ready.reduce((sum, worker) => sum + worker.slots, 0);
  const fleet = `${plural(ready.length, 'worker')} run${ready.length === 1 ? 's' : ''} ${slots} at a time`;
  const step = nextSteps.watch(project);
  if (turn.delivery === null) {
    const projects = Math.max(0, waitingLine.indexOf(project));
    const before = [
      ...(turn.aheadInProject > 0 ? [`${plural(turn.aheadInProject, 'turn')} of the project`] : []),
      ...(projects > 0
        ? [`${plural(projects, 'other project')} that ${projects === 1 ? 'gets' : 'get'} a slot first`]
        : []),
    ];
    if (before.length === 0) return [];
    const sentence = `Turn ${turn.number} is queued behind ${before.join(' and ')}; ${fleet}.`;
    return [{ code: 'queued-behind', sentence, ...step }];
  }
  if (jobsAhead === undefined) return [];
  return jobsAhead === 0
    ? [{ code: 'waiting-for-slot', sentence: `Turn ${turn.number} is the next to get a slot; ${fleet}.`, ...step }]
    : [
        {
          code: 'queued-behind',
          sentence: `Turn ${turn.number} is queued behind ${plural(jobsAhead, 'turn')}; ${fleet}.`,
          ...step,
        },
      ];
}

function connected(workers: number): string {
  return `${plural(workers, 'worker')} ${workers === 1 ? 'is' : 'are'} connected`;
}
