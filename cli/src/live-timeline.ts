import { followEvents } from '@suzumio/contract/client/follow-events';
import type { EventType, ProjectEvent } from '@suzumio/contract/model/event';
import type { Client } from '@suzumio/contract/client/client';
import type { ApiClient } from './reach/api-client.js';
import { LiveLines } from './live-lines.js';
import { createTimeline, openEnds } from './render/timeline.js';
import { say, sayJson, type Session } from './session.js';

/** Which events a timeline shows. */
export interface Shown {
  readonly types?: readonly EventType[] | undefined;
  readonly agents?: readonly string[] | undefined;
  /** Whether calls of tools that succeeded are left out. @default false */
  readonly quiet?: boolean | undefined;
}

export interface LiveTimeline {
  readonly project: string;
  /** How many of the newest events are shown first; undefined for all of them, as if they happened now. */
  readonly history: number | undefined;
  /** Whether to suggest commands. @default true */
  readonly hints?: boolean;
  /** Called for each event after it was shown; `true` ends the timeline. */
  readonly onEvent?: (event: ProjectEvent) => boolean;
  /** Whether to show what turns say and print while they run, too. @default false */
  readonly live?: boolean;
  /** Which events are shown. @default all */
  readonly shown?: Shown;
  readonly signal: AbortSignal;
}

/** Prints the newest of what happened. Returns the last event, printed or not. */
export async function printHistory(
  session: Session,
  api: Client,
  { project, limit, shown = {} }: { project: string; limit: number; shown?: Shown | undefined },
): Promise<ProjectEvent | undefined> {
  // The last one is known also where none is to be shown: what follows goes on from it.
  const { items: newest } = await api.listEvents({ project, query: { limit: Math.max(limit, 1) } });
  const events = limit === 0 ? [] : newest;
  const show = await printer(session, api, project, shown);
  const open = openEnds(events);
  for (const event of events) show(event, open.has(event.seq));
  return newest.at(-1);
}

/** Prints past and new events until `signal` is aborted or `onEvent` returns `true`. */
export async function followTimeline(
  session: Session,
  api: ApiClient,
  { project, history, hints = true, onEvent, live = false, shown = {}, signal }: LiveTimeline,
): Promise<void> {
  const show = await printer(session, api, project, shown);
  const last = history === undefined ? undefined : await printHistory(session, api, { project, limit: history, shown });
  const events = followEvents(api, {
    project,
    after: last?.id,
    onReset: () => say(session, `-- ${project} was restored from a backup: its timeline begins anew`),
    onLost: () => session.context.err.write(`-- the connection to ${api.url} was lost; trying again\n`),
    signal,
  });
  const lines = live ? await LiveLines.of(session, api, project, signal) : undefined;
  for await (const event of events) {
    await lines?.hear(event);
    show(event, hints);
    if (onEvent?.(event) === true) return;
  }
}

/** With `--json`, an event a line; else the lines of a timeline. */
async function printer(
  session: Session,
  api: Client,
  project: string,
  { types, agents: about, quiet = false }: Shown,
): Promise<(event: ProjectEvent, dueNext: boolean) => void> {
  const { context, suzumio } = session;
  const { agents } = await api.getProject({ project });
  const render = createTimeline(
    { project, agents: agents.map(({ id }) => id) },
    { out: context.out, timeZone: context.timeZone, suzumio, quiet },
  );
  return (event, dueNext) => {
    if (types?.includes(event.type) === false || about?.includes(event.agent ?? '') === false) return;
    sayJson(session, event, 'line');
    say(session, ...render(event, dueNext));
  };
}
