import { setImmediate as turnOfOthers } from 'node:timers/promises';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { budgetShareTold, type InboxItem, type InboxKind } from '@suzumio/contract/model/inbox';
import type { inbox } from '@suzumio/contract/operations/inbox';
import type { DayBudget } from '@suzumio/core/budgets/day-budget';
import { nextSteps } from '@suzumio/core/why/next-steps';
import { nanoPerUsd } from '@suzumio/core/budgets/model-cost';
import { projectId } from '@suzumio/protocol/ids';
import {
  type InboxEntry,
  isMailToUser,
  type MailEntry,
  pausedEntry,
  readWaiting,
} from '@suzumio/store/projects/inbox-items';
import { isBrokenProject } from '@suzumio/store/sqlite/store-fault';
import type { Call } from '../call.js';
import type { ApiContext } from '../context.js';
import { withProject } from '../project-access.js';
import type { Runs } from '../routes.js';
import { NewestMail } from './newest-mail.js';

/** The most that waits which one answer has. */
const mostWaiting = 1_000;

export const inboxRuns: Runs<typeof inbox> = {
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
    const unreadable: string[] = [];
    for (const project of only === null ? context.cell.catalog.projects.all().map(({ id }) => id) : [only]) {
      // The client has disconnected.
      if (response.closed) break;
      try {
        await withProject(context, response, project, (store) => {
          if (before === undefined) waiting.push(...store.snapshot((reader) => readWaiting(reader, store.config)));
          if (wanted('message')) mail.addFrom(store, unread ? isUnread : undefined);
        });
      } catch (error) {
        if (only !== null) throw error;
        if (isBrokenProject(error)) unreadable.push(project);
        // It was deleted since it was listed.
        else if (!isSuzumioError(error, 'project-unknown')) throw error;
      }
      await turnOfOthers();
    }
    const waits = marked(before === undefined ? waiting.filter(({ kind }) => wanted(kind)).sort(longestFirst) : []);
    const left = waits.filter(({ read }) => !unread || !read);
    const { entries, previous } = mail.part();
    return {
      items: [...left.slice(0, mostWaiting), ...marked(entries)],
      moreWaiting: Math.max(0, left.length - mostWaiting),
      unreadable,
      ...(previous && { previous: `${previous.atMs}.${previous.project}.${previous.seq}` }),
    };
  },

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
