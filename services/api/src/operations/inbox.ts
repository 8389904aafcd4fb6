import { setImmediate as turnOfOthers } from 'node:timers/promises';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { budgetShareTold, type InboxItem, type InboxKind } from '@suzumio/contract/model/inbox';
import type { inbox } from '@suzumio/contract/operations/inbox';
import type { DayBudget } from '@suzumio/core/budgets/day-budget';
import { nextSteps } from '@suzumio/core/why/next-steps';
import { nanoPerUsd } from '@suzumio/core/budgets/model-cost';
import { projectId } from '@suzumio/protocol/ids';
import {
  countMailToUser,
  type InboxEntry,
  isMailToUser,
  type MailEntry,
  pausedEntry,
  type PlaceInCell,
  readWaiting,
} from '@suzumio/store/projects/inbox-items';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { isBrokenProject } from '@suzumio/store/sqlite/store-fault';
import type { Call } from '../call.js';
import type { ApiContext } from '../context.js';
import { withProject } from '../project-access.js';
import { UnchangedProjects } from '../unchanged-projects.js';
import type { Runs } from '../routes.js';
import { NewestDecided } from './newest-decided.js';
import { NewestMail } from './newest-mail.js';

/** The most that waits which one answer has. */
const mostWaiting = 1_000;

/** The operations on what waits for a person. */
export function inboxRuns(): Runs<typeof inbox> {
  const counts = new UnchangedProjects(countWaiting);
  return {
    ...reading,
    ...marking,

    async countInbox(call) {
      const { projects, unreadable } = await counts.read(call);
      const some = projects
        .filter(({ read }) => read.waiting > 0)
        .map(({ project, read: { waiting, failures } }) => ({ project, waiting, failures }));
      const ofAll = call.identity.project === null ? ofCell(call.context).length : 0;
      const marked = call.context.cell.catalog.inboxReads.countMail(call.identity.name);
      const unread = projects.map(({ project, read }) => Math.max(0, read.mail - (marked.get(project) ?? 0)));
      return {
        waiting: some.reduce((sum, { waiting }) => sum + waiting, ofAll),
        unread: unread.reduce((sum, number) => sum + number, 0),
        projects: some,
        unreadable,
      };
    },
  };
}

const reading: Pick<Runs<typeof inbox>, 'getInbox' | 'listDecided'> = {
  async getInbox({ context, response, identity, query }) {
    const { kind: kinds, unread, limit, before } = query;
    const reads = context.cell.catalog.inboxReads;
    const wanted = (kind: InboxKind) => kinds?.includes(kind) ?? true;
    const marked = (entries: readonly InboxEntry[]): InboxItem[] => {
      const read = reads.among(
        identity.name,
        entries.map(({ id }) => id),
      );
      return entries.map((entry) => ({ ...entry, read: read.has(entry.id) }));
    };
    const isUnread = (entries: readonly MailEntry[]) => {
      const items = marked(entries.map(({ entry }) => entry));
      return entries.filter((_entry, i) => items[i]?.read === false);
    };
    const only = query.project ?? identity.project;
    const waiting = only === null ? ofCell(context) : [];
    const mail = new NewestMail(limit, before);
    const unreadable = await inEach({ context, response }, only, (store) => {
      if (before === undefined) waiting.push(...store.snapshot((reader) => readWaiting(reader, store.config)));
      if (wanted('message')) mail.addFrom(store, unread ? isUnread : undefined);
    });
    const waits = marked(before === undefined ? waiting.filter(({ kind }) => wanted(kind)).sort(longestFirst) : []);
    const left = waits.filter(({ read }) => !unread || !read);
    const { entries, previous } = mail.part();
    return {
      items: [...left.slice(0, mostWaiting), ...marked(entries)],
      moreWaiting: Math.max(0, left.length - mostWaiting),
      unreadable,
      ...(previous && { previous: written(previous) }),
    };
  },

  async listDecided({ context, response, identity, query }) {
    const only = query.project ?? identity.project;
    const { length } = only === null ? context.cell.catalog.projects.all() : [only];
    const newest = new NewestDecided(query.limit, query.before, length);
    const unreadable = await inEach({ context, response }, only, (store) => newest.addFrom(store));
    for (let project = newest.further(); project !== undefined && !response.closed; project = newest.further()) {
      try {
        await withProject(context, response, project, (store) => newest.addFrom(store));
      } catch (error) {
        if (!isSuzumioError(error, 'project-unknown') && !isBrokenProject(error)) throw error;
        newest.leave(project);
      }
      await turnOfOthers();
    }
    const { items, previous } = newest.part();
    return { items, unreadable, ...(previous && { previous: written(previous) }) };
  },
};

const marking: Pick<Runs<typeof inbox>, 'markRead'> = {
  async markRead(call) {
    const { context, identity, body } = call;
    const found = new Set<string>();
    const byProject = Map.groupBy(new Set(body.items), (item) => item.slice(0, item.indexOf(':')));
    for (const [project, items] of byProject) {
      for (const item of await standing(call, project, items)) found.add(item);
      await turnOfOthers();
    }
    const items = body.items.filter((item) => found.has(item));
    await context.cell.catalog.inboxReads.mark(
      identity.name,
      [...found].map((item) => ({ item, project: item.slice(0, item.indexOf(':')) || null })),
    );
    return { items };
  },
};

type Asked = Pick<Call<typeof inbox.getInbox>, 'context' | 'response'>;

/**
 * Looks into one project, or one after the other into all; requests of others run in between.
 *
 * @returns the projects whose databases cannot be read
 * @throws SuzumioError `project-unknown`, or what makes it unreadable, where it is the only one
 */
async function inEach(
  { context, response }: Asked,
  only: string | null,
  look: (store: ProjectStore) => void,
): Promise<string[]> {
  const unreadable: string[] = [];
  for (const project of only === null ? context.cell.catalog.projects.all().map(({ id }) => id) : [only]) {
    // The client has disconnected.
    if (response.closed) break;
    try {
      await withProject(context, response, project, look);
    } catch (error) {
      if (only !== null) throw error;
      if (isBrokenProject(error)) unreadable.push(project);
      // It was deleted since it was listed.
      else if (!isSuzumioError(error, 'project-unknown')) throw error;
    }
    await turnOfOthers();
  }
  return unreadable;
}

/** How much of a project waits for a person, and how many messages it has for one. */
function countWaiting(store: ProjectStore): { waiting: number; failures: number; mail: number } {
  return store.snapshot((reader) => {
    const waiting = readWaiting(reader, store.config);
    const failures = waiting.filter(({ kind }) => kind === 'failure').length;
    return { waiting: waiting.length, failures, mail: countMailToUser(reader) };
  });
}

function written({ atMs, project, seq }: PlaceInCell): string {
  return `${atMs}.${project}.${seq}`;
}

/** Those of the items that are there, and that the holder of the token may see. */
async function standing(
  { context, response, identity }: Pick<Call<typeof inbox.markRead>, 'context' | 'response' | 'identity'>,
  project: string,
  items: readonly string[],
): Promise<string[]> {
  if (project === '') {
    if (identity.project !== null) return [];
    const present = new Set(ofCell(context).map(({ id }) => id));
    return items.filter((item) => present.has(item));
  }
  if (!projectId.safeParse(project).success) return [];
  try {
    return await withProject(context, response, project, (store) =>
      store.snapshot((reader) => {
        const present = new Set(readWaiting(reader, store.config).map(({ id }) => id));
        return items.filter((item) => present.has(item) || isMailToUser(reader, item));
      }),
    );
  } catch (error) {
    if (isSuzumioError(error, 'project-unknown') || isBrokenProject(error)) return [];
    throw error;
  }
}

/** What holds up all projects, or soon will. */
function ofCell({ cell }: ApiContext): InboxEntry[] {
  const { pause, spending } = cell.catalog;
  const paused = pause.current;
  const day = spending.budget;
  return [
    ...(paused === null ? [] : [pausedEntry(null, null, paused)]),
    ...(day === undefined || day.spentNanoUsd <= budgetShareTold * day.limitNanoUsd ? [] : [dayEntry(day)]),
  ];
}

function dayEntry({ day, limitNanoUsd, spentNanoUsd }: DayBudget): InboxEntry {
  const [max, used] = [limitNanoUsd / nanoPerUsd, spentNanoUsd / nanoPerUsd];
  return {
    kind: 'budget',
    id: `:budget:${day}:${max}${used >= max ? ':reached' : ''}`,
    project: null,
    agent: null,
    displayName: null,
    limit: 'usd',
    max,
    used,
    ...nextSteps.usageByDay(),
  };
}

/** What has waited longest comes first; budgets, which have no moment, last. */
function longestFirst(a: InboxEntry, b: InboxEntry): number {
  const ms = (entry: InboxEntry) => ('at' in entry ? Date.parse(entry.at) : Number.MAX_SAFE_INTEGER);
  return ms(a) - ms(b);
}
