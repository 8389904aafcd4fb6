import type { Pause } from '@suzumio/contract/model/pause';
import type { ProjectStatus } from '@suzumio/contract/model/project-status';
import type { StorageReached } from '@suzumio/contract/model/storage';
import type { AgentState } from '@suzumio/contract/model/states';
import type { Failure } from '@suzumio/protocol/failure-codes';
import type { DayBudget } from '../budgets/day-budget.js';
import type { WorkerPresence } from '@suzumio/protocol/worker-presence';

/** A turn that is queued or runs. */
export interface TurnFacts {
  id: string;
  number: number;
  running: boolean;
  /** Its last attempt; 0 before the first. */
  attempt: number;
  worker: string | null;
  attemptStartedAtMs: number | null;
  /** When its worker, which runs it, is given up unless it is heard of. */
  leaseUntilMs: number | null;
  notBeforeMs: number;
  /** Why its last attempt ended. */
  failure: Failure | null;
  /** The circuit of the model that it waits for. */
  waitsFor: string | null;
  /** Its job on the queue; none while the scheduler holds it back. */
  delivery: number | null;
  /** Turns of the project that get a worker before it. */
  aheadInProject: number;
}

/** What the project's own database says. */
export interface ProjectFacts {
  project: { id: string; status: ProjectStatus; paused: Pause | null; epoch: number };
  agent: {
    id: string;
    state: AgentState;
    stopping: boolean;
    paused: Pause | null;
    unread: number;
    undelivered: number;
    failure: (Failure & { turnNumber: number; attempt: number }) | null;
  };
  turn: TurnFacts | null;
  /** What of its budget, or the project's, is used up. */
  budgetReached: string | null;
  /** The bounds of what may be stored that it, its project or the disk has reached. */
  storageReached: readonly StorageReached[];
  /** What any question of it has to have room for in the day's budget, in billionths of a dollar. */
  leastHeldNanoUsd: number;
  /** Turns of the project that are queued or run, but for those of external agents, and how many may be. */
  activeTurns: number;
  maxConcurrentTurns: number | undefined;
  /** The most messages that one turn is given. */
  maxPromptMessages: number;
  /** What its turns run in; null where a handler runs them. */
  runsIn: { backend: string; image: string } | null;
  /** The handler that asked last for turns of an external agent. */
  handler: { handler: string; seenAtMs: number; connected: boolean } | null;
}

/** Whether a service of the control plane lives, and when it was last heard of. */
export interface ServiceFacts {
  alive: boolean;
  seenAtMs: number | null;
}

/** What the queue knows. */
export interface Fleet {
  workers: readonly WorkerPresence[];
  /** Jobs before the agent's own; undefined where that does not wait, or there is none. */
  jobsAhead: number | undefined;
}

/** What is known beside the project. */
export interface CellFacts {
  id: string;
  paused: Pause | null;
  scheduler: ServiceFacts;
  toolhost: ServiceFacts;
  /** Models that are away for the project, by their circuits, with when they may be asked again. */
  providersAway: ReadonlyMap<string, number>;
  /** What the cell's day has left; null where it is not bounded. */
  day: DayBudget | null;
  /** Projects that wait for a place in the queue, the next one first. */
  waitingLine: readonly string[];
  /** What the queue knows of workers and jobs; `away` where it cannot be reached, null where it was not asked. */
  fleet: Fleet | 'away' | null;
}
