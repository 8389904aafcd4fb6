import type { BudgetReached, BudgetView } from '@suzumio/contract/model/budget';
import type { ProjectEvent } from '@suzumio/contract/model/event';
import type { Labels } from '@suzumio/contract/model/labels';
import type { Pause } from '@suzumio/contract/model/pause';
import type { ProjectStatus } from '@suzumio/contract/model/project-status';
import type { TaskState } from '@suzumio/contract/model/task-states';
import type { StorageReached } from '@suzumio/contract/model/storage';
import type { UsageAnswer, UsageGroup } from '@suzumio/contract/model/usage';
import type {
  AgentView,
  ArtifactView,
  ConversationEntry,
  MessageDetail,
  MessageView,
  ProjectView,
  SummaryView,
  TaskView,
  ToolCallView,
  TurnDetail,
  TurnView,
} from '@suzumio/contract/model/views';
import type { WhyAnswer } from '@suzumio/contract/model/why';
import type { DirectoryEntry, DirectoryFile } from '@suzumio/protocol/artifacts';

export interface ProjectDetail {
  project: ProjectView;
  agents: AgentView[];
  /** Set where the whole cell starts no turns for a while. */
  cellPaused: Pause | null;
  /** The budgets that keep agents from new turns. */
  budgetsReached: BudgetReached[];
  /** The bounds of what may be stored that are reached. */
  storageReached: StorageReached[];
}

/** Which usage is added up, by what; moments are milliseconds. */
export interface UsageQuestion {
  by: UsageGroup;
  /** @default every project that may be read */
  project?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
}

/** Which projects are wanted: those that have all of the labels, and one of the statuses. */
export interface ProjectFilter {
  labels?: Labels | undefined;
  statuses?: readonly ProjectStatus[] | undefined;
}

/** Which tasks are wanted. */
export interface TaskFilter {
  state?: TaskState;
  assignee?: string;
  role?: string;
  team?: string;
}

/** The requested projects, and those of them with broken files. */
export interface ListedDetails {
  details: ProjectDetail[];
  broken: { id: string; code: string; detail: string }[];
}

/** What commands that only read can ask, of a server or of the data directory itself. Lists are the newest, in order. */
export interface ProjectReads {
  /** Every project's id, oldest first. */
  projects(): Promise<string[]>;
  /** Every project that is wanted, oldest first. */
  details(which: ProjectFilter): Promise<ListedDetails>;
  detail(project: string): Promise<ProjectDetail>;
  /** Why an agent is quiet, or what it is at. */
  why(project: string, agent: string): Promise<WhyAnswer>;
  messages(project: string, limit: number): Promise<MessageView[]>;
  /** One message, by its id or number, and what became of it. */
  message(project: string, name: string): Promise<MessageDetail>;
  /** The messages of a thread, named by its id or by any message in it. */
  thread(project: string, name: string, limit: number): Promise<MessageView[]>;
  /** Unread mail of all agents or of one; or that which a failed or cancelled turn has left behind. */
  inbox(
    project: string,
    limit: number,
    of: { agent?: string | undefined; undelivered: boolean },
  ): Promise<MessageView[]>;
  /** Work that was assigned, of which all of this holds. */
  tasks(project: string, limit: number, which: TaskFilter): Promise<TaskView[]>;
  /** Turns of all agents or of one. */
  turns(project: string, limit: number, agent?: string): Promise<TurnView[]>;
  /** One turn by its id or `agent:number`. */
  turn(project: string, name: string): Promise<TurnDetail>;
  /** What a turn's model was told and answered, all of it. */
  conversation(project: string, name: string): Promise<ConversationEntry[]>;
  /** What the container of an attempt printed; nothing while it runs. */
  log(project: string, turn: string, attempt: number): Promise<string>;
  /** Tool calls of all turns or of one. */
  toolCalls(project: string, limit: number, turn?: string): Promise<ToolCallView[]>;
  artifacts(project: string, limit: number): Promise<ArtifactView[]>;
  /** One artifact by its id, or the newest of a name. */
  artifact(project: string, name: string): Promise<ArtifactView>;
  /** What is in an artifact that is a directory, each directory before what is in it. */
  entries(project: string, artifact: ArtifactView): Promise<DirectoryEntry[]>;
  /** The bytes of an artifact, or of one file in it. */
  content(project: string, artifact: ArtifactView, file?: DirectoryFile): Promise<AsyncIterable<Uint8Array>>;
  events(project: string, limit: number): Promise<ProjectEvent[]>;
  usage(question: UsageQuestion): Promise<UsageAnswer>;
  /** The project's budget, and those of agents that have one. */
  budgets(project: string): Promise<BudgetView[]>;
  /** What an agent remembers of turns that it is no longer told of in full, the newest first. */
  memory(project: string, agent: string): Promise<SummaryView[]>;
  /** The text of the newest report, or of one version. */
  report(project: string, version: number | undefined): Promise<string>;
}
