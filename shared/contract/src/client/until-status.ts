import type { ProjectStatus } from '../model/project-status.js';
import type { WaitAnswer } from '../operations/events.js';
import type { Client } from './client.js';
import { untilAnswer } from './until-answer.js';

export interface UntilStatus {
  readonly project: string;
  /** Any of these. */
  readonly status: ProjectStatus | readonly ProjectStatus[];
  /** @default no limit */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Waits until a project has, or reaches, one of some statuses. A server that stops meanwhile is asked again for a minute.
 *
 * @returns the project, and the status that was reached; null when the time was up
 */
export function untilStatus(
  api: Pick<Client, 'waitForStatus'>,
  { project, status, ...patience }: UntilStatus,
): Promise<WaitAnswer> {
  const { signal } = patience;
  return untilAnswer(
    (timeout) => api.waitForStatus({ project, query: { status: [status].flat(), timeout } }, { signal }),
    ({ reached }) => reached !== null,
    patience,
  );
}
