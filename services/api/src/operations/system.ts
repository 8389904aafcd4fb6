import type { SystemAnswer, service } from '@suzumio/contract/operations/service';
import { asSeenBy, type WorkerPresence } from '@suzumio/protocol/worker-presence';
import { version } from '@suzumio/runtime/version';
import { nextSteps } from '@suzumio/core/why/next-steps';
import { someUndelivered } from '@suzumio/store/mail/redeliver-message';
import { diskView } from '@suzumio/store/content/storage';
import { listModelFaults } from '@suzumio/store/models/model-faults';
import { readWaiting } from '@suzumio/store/projects/inbox-items';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { projectRow } from '@suzumio/store/rows';
import { iso } from '@suzumio/store/sqlite/page';
import { fairly } from '../fairly.js';
import type { Run } from '../routes.js';
import { judgeSystem } from './judge-system.js';
import { lostWorkerViews, workerViewOf } from './worker-view.js';
import { UnchangedProjects } from '../unchanged-projects.js';

type Failure = SystemAnswer['failures']['items'][number];
type Undelivered = SystemAnswer['undelivered']['items'][number];

/** What of a project somebody who looks after the server has to see. */
interface Troubles {
  failures: { agents: number; items: Failure[] };
  undelivered: { messages: number; items: Undelivered[] };
  models: SystemAnswer['models'];
}

/** The most failures, and the most undelivered mail, that one answer has. */
const mostItems = 50;

/** How much of a failure's message is told. */
const mostChars = 500;

/** How the server is. Nothing is said to be well that was not seen. */
export function systemRun(): Run<typeof service.getSystem> {
  const troubles = new UnchangedProjects(troublesOf);
  return async (call) => {
    const { cell, transport, toolhosts } = call.context;
    const left = new AbortController();
    call.response.once('close', () => left.abort());
    const [asked, turns, fleet, lost] = await Promise.all([
      toolhosts?.ask(left.signal) ?? [],
      transport.turnJobs().catch(() => null),
      transport.fleet().catch(() => null),
      transport.lostWorkers().catch(() => []),
    ]);
    const { projects, unreadable } = await troubles.read(call);
    const { pause, processes } = cell.catalog;
    const own = fleet?.flatMap((worker) => asSeenBy(cell.id, worker) ?? []) ?? null;
    const lostViews = lostWorkerViews(cell.id, lost, cell.context.now());
    const seen = {
      version,
      at: iso(cell.context.now()),
      paused: pause.current,
      services: processes.seen().map(({ service: name, host, sinceMs, beatAtMs, alive }) => ({
        service: name,
        host,
        since: iso(sinceMs),
        seenAt: iso(beatAtMs),
        alive,
      })),
      toolhosts: asked,
      queue: { kind: transport.kind, turns },
      workers: fleet && own && countWorkers(own, { elsewhere: fleet.length - own.length, lost: lostViews.length }),
      failures: {
        agents: projects.reduce((sum, { read }) => sum + read.failures.agents, 0),
        items: fairly(
          projects.map(({ read }) => read.failures.items),
          mostItems,
        ),
      },
      undelivered: {
        messages: projects.reduce((sum, { read }) => sum + read.undelivered.messages, 0),
        items: fairly(
          projects.map(({ read }) => read.undelivered.items),
          mostItems,
        ),
      },
      models: fairly(
        projects.map(({ read }) => read.models),
        mostItems,
      ),
      disk: diskView(cell.disk),
      projects: projects.length + unreadable.length,
      unreadable,
    };
    return { ...seen, findings: judgeSystem(seen, own && [...own.map(workerViewOf), ...lostViews]) };
  };
}

function troublesOf(store: ProjectStore): Troubles {
  return store.snapshot((reader) => {
    const { project } = store;
    if (projectRow(reader).status === 'completed') {
      return { failures: { agents: 0, items: [] }, undelivered: { messages: 0, items: [] }, models: [] };
    }
    const faults = listModelFaults(reader, store.config).slice(0, mostItems);
    const failed = readWaiting(reader, store.config).flatMap((entry) =>
      entry.kind === 'failure' ? [{ ...entry, message: entry.message.slice(0, mostChars) }] : [],
    );
    const { messages, first } = someUndelivered(reader, mostItems);
    return {
      failures: {
        agents: failed.length,
        items: failed.slice(0, mostItems).map(({ agent, turnNumber, code, message, at, next, request }) => ({
          project,
          agent,
          turnNumber,
          code,
          message,
          at,
          next,
          request,
        })),
      },
      models: faults.map((fault) => ({ project, ...fault })),
      undelivered: {
        messages,
        items: first.map(({ seq, agent, number: turnNumber }) => ({
          project,
          seq,
          agent,
          turnNumber,
          ...nextSteps.redeliverMessage(project, seq, agent),
        })),
      },
    };
  });
}

function countWorkers(
  own: readonly WorkerPresence[],
  others: { elsewhere: number; lost: number },
): SystemAnswer['workers'] {
  return {
    connected: own.length,
    ready: own.filter(({ state }) => state === 'ready').length,
    slots: own.reduce((sum, { slots }) => sum + slots, 0),
    busy: own.reduce((sum, { busy = 0 }) => sum + busy, 0),
    ...others,
  };
}
