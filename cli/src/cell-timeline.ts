import { type CellNotice, followCell as follow } from '@suzumio/contract/client/follow-cell';
import type { EventType } from '@suzumio/contract/model/event';
import type { CellEvent } from '@suzumio/contract/operations/cell-events';
import type { ApiClient } from './reach/api-client.js';
import { createTimeline } from './render/timeline.js';
import { say, sayJson, type Session } from './session.js';

/** Which events of a cell are shown. */
export interface CellFilter {
  readonly label?: readonly string[] | undefined;
  readonly types?: readonly EventType[] | undefined;
  readonly agents?: readonly string[] | undefined;
}

const projectWidth = 16;

/** Prints the newest events of all projects, and then what happens, until `signal` is aborted. */
export async function followCell(
  session: Session,
  api: ApiClient,
  asked: { history: number; filter: CellFilter; quiet?: boolean | undefined; signal: AbortSignal },
): Promise<void> {
  const { history, filter, quiet = false, signal } = asked;
  const { items, next } = await api.listCellEvents({ query: { ...filter, limit: Math.max(history, 1) } });
  for (const event of history === 0 ? [] : items) show(session, event, quiet);
  const events = follow(api, {
    ...filter,
    after: next,
    onNotice: ({ type, project = 'the cell' }) => say(session, `-- ${project} ${notices[type]}`),
    onLost: () => session.context.err.write(`-- the connection to ${api.url} was lost; trying again\n`),
    signal,
  });
  for await (const event of events) show(session, event, quiet);
}

const notices: Readonly<Record<CellNotice['type'], string>> = {
  reset: 'was restored from a backup: its timeline begins anew',
  'project.reset': 'was restored from a backup: its timeline begins anew',
  'project.deleted': 'was deleted',
  'project.damaged': 'cannot be read',
};

/** With `--json`, an event a line; else a line of its project's timeline, after the project's name. */
function show(session: Session, event: CellEvent, quiet: boolean): void {
  const { context, suzumio } = session;
  const { project } = event;
  const name = project.length > projectWidth ? `${project.slice(0, projectWidth - 1)}…` : project.padEnd(projectWidth);
  const columns = context.out.columns === undefined ? undefined : context.out.columns - projectWidth - 2;
  const style = { out: { colors: context.out.colors, columns }, timeZone: context.timeZone, suzumio, quiet };
  sayJson(session, event, 'line');
  say(session, ...createTimeline({ project, agents: [] }, style)(event, false).map((line) => `${name}  ${line}`));
}
