import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { Priority } from '@suzumio/protocol/ids';
import { defaultCoordinator } from '../config/defaults.js';

/** The agent that is told when another one waits. */
export function coordinatorOf({ communication }: Pick<ProjectConfig, 'communication'>): string {
  return communication?.coordinatorAgent ?? defaultCoordinator;
}

/** What the mail of an agent is held to. */
export interface MailLimit {
  /** The only agent that it may go to. */
  readonly coordinator: string;
  /** Its highest priority. */
  readonly priority: Priority;
}

/** Undefined where the agent may write to anybody. */
export function mailLimitOf(config: Pick<ProjectConfig, 'communication'>, agent: string): MailLimit | undefined {
  const coordinator = coordinatorOf(config);
  const { restrictNonCoordinatorToCoordinator: restricts, nonCoordinatorMaxPriority: priority = 'P2' } =
    config.communication ?? {};
  return restricts === true && agent !== coordinator ? { coordinator, priority } : undefined;
}
