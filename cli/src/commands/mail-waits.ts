import type { ProjectView } from '@suzumio/contract/model/project';

/** What becomes of mail that was sent to a project which does not run, and what may come next. */
export function mailWaits({ id: project, status, reportBy }: Pick<ProjectView, 'id' | 'status' | 'reportBy'>): {
  said: string;
  next: string;
} {
  switch (status) {
    case 'completed':
      return {
        said: `${project} is completed: nobody reads mail there, unless changes are requested.`,
        next: `request-changes ${project} ${reportBy ?? 'AGENT'} "…"`,
      };
    case 'submitted':
      return { said: `${project} is submitted: mail waits for what you say of its report.`, next: `report ${project}` };
    case 'initialized':
    case 'running':
    case 'stopped':
      return { said: `${project} is ${status}: mail waits until it runs.`, next: `start ${project}` };
  }
}
