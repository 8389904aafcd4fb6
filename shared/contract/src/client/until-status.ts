import type { ProjectStatus } from '../model/project-status.js';
import type { ProjectView } from '../model/views.js';
import type { Client } from './client.js';

export interface UntilStatus {
  readonly project: string;
  /** Any of these. */
  readonly status: ProjectStatus | readonly ProjectStatus[];
  /** @default no limit */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** One request waits no longer than this. */
const mostMs = 50_000;

/**
 * Waits until a project has, or reaches, one of some statuses.
 *
 * @returns the project, and the status that was reached; null when the time was up
 */
export async function untilStatus(
  api: Pick<Client, 'waitForStatus'>,
  { project, status, timeoutMs = Infinity, signal }: UntilStatus,
): Promise<{ project: ProjectView; reached: ProjectStatus | null }> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const leftMs = Math.max(0, Math.round(deadlineMs - performance.now()));
    const timeout = `${String(Math.min(leftMs, mostMs))}ms`;
    const answer = await api.waitForStatus({ project, query: { status: [status].flat(), timeout } }, { signal });
    if (answer.reached !== null || performance.now() >= deadlineMs) return answer;
  }
}
