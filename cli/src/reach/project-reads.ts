import type { ProjectEvent } from '@suzumio/shared/model/event';
import type {
  AgentView,
  ArtifactView,
  MessageView,
  ProjectView,
  TurnDetail,
  TurnView,
} from '@suzumio/shared/model/views';

export interface ProjectDetail {
  project: ProjectView;
  agents: AgentView[];
}

/** What commands that only read can ask, of a server or of the data directory itself. Lists are the newest, in order. */
export interface ProjectReads {
  /** Every project's id, oldest first. */
  projects(): Promise<string[]>;
  detail(project: string): Promise<ProjectDetail>;
  messages(project: string, limit: number): Promise<MessageView[]>;
  turns(project: string, limit: number): Promise<TurnView[]>;
  /** One turn by its id or `agent:number`. */
  turn(project: string, name: string): Promise<TurnDetail>;
  artifacts(project: string, limit: number): Promise<ArtifactView[]>;
  events(project: string, limit: number): Promise<ProjectEvent[]>;
  /** The text of the newest report, or of one version. */
  report(project: string, version: number | undefined): Promise<string>;
}
