import type { Pause } from '@suzumio/contract/model/pause';
import type { ProjectStatus } from '@suzumio/contract/model/project-status';
import type { BudgetReached } from '@suzumio/contract/model/budget';
import type { StorageReached } from '@suzumio/contract/model/storage';
import type { AgentState } from '@suzumio/contract/model/states';
import type { Failure } from '@suzumio/protocol/failure-codes';
import type { DayBudget } from '../budgets/day-budget.js';
import type { WorkerPresence } from '@suzumio/protocol/worker-presence';

/** A queued or running turn. */
export interface TurnFacts {
  id: string;
  number: number;
  running: boolean;
  /** Its last attempt; 0 before the first. */
  attempt: number;
  worker: string | null;
  attemptStartedAtMs: number | null;
  /** When its lease ends unless its worker extends it. */
  leaseUntilMs: number | null;
  notBeforeMs: number;
  /** Why its last attempt ended. */
  failure: Failure | null;
  /** The circuit that it waits for. */
  waitsFor: string | null;
  /** Its job on the queue; null while the scheduler holds it back. */
  delivery: number | null;
  /** Turns of the project that get a worker before it. */
  aheadInProject: number;
}

/** Facts from the project's own database. */
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
  /** Its own or the project's exhausted budget. */
  budgetReached: BudgetReached | null;
  /** The storage limits that it, its project or the disk has reached. */
  storageReached: readonly StorageReached[];
  /** The smallest reservation that any of its model calls needs in the day's budget, in billionths of a dollar. */
  leastHeldNanoUsd: number;
  /** Queued and running turns of the project, except those of external agents, and their limit. */
  activeTurns: number;
  maxConcurrentTurns: number | undefined;
  /** The most messages of one turn. */
  maxPromptMessages: number;
  /** The backend of its turns; null where a handler runs them. */
  runsIn: { backend: string; image: string } | null;
  /** The handler that last asked for turns of an external agent. */
  handler: { handler: string; seenAtMs: number; connected: boolean } | null;
}

/** Whether a service of the control plane is alive, and when it was last heard of. */
export interface ServiceFacts {
  alive: boolean;
  seenAtMs: number | null;
}

/** Facts from the queue. */
export interface Fleet {
  workers: readonly WorkerPresence[];
  /** Jobs before the agent's own; undefined where it has none that waits. */
  jobsAhead: number | undefined;
}

/** Facts from outside the project. */
export interface CellFacts {
  id: string;
  paused: Pause | null;
  scheduler: ServiceFacts;
  toolhost: ServiceFacts;
  /** Open circuits for the project, and when each may be probed. */
  providersAway: ReadonlyMap<string, number>;
  /** The cell's budget for the day; null where there is none. */
  day: DayBudget | null;
  /** Projects that wait for a place in the queue, the next one first. */
  waitingLine: readonly string[];
  /** The queue's facts on workers and jobs; `away` where it cannot be reached, null where it was not asked. */
  fleet: Fleet | 'away' | null;
}
