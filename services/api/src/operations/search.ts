import { setImmediate as turnOfOthers } from 'node:timers/promises';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type FoundItem, type FoundKind, foundKinds } from '@suzumio/contract/model/found';
import type { search } from '@suzumio/contract/operations/search';
import { indexFor } from '@suzumio/store/mail/index-messages';
import { findInProject } from '@suzumio/store/projects/find-in-project';
import { isBrokenProject } from '@suzumio/store/sqlite/store-fault';
import type { Call } from '../call.js';
import { fairly } from '../fairly.js';
import { OneAfterAnother } from '../one-after-another.js';
import { withProject } from '../project-access.js';
import type { Runs } from '../routes.js';
import { ignoreUnwritable } from './read-indexed.js';

/** How long one part looks. */
const mostMs = 2_000;
/** The most of one kind from a project, where several are searched. */
const mostOfProject = 5;
/** How many times a project's mail is added to the index: some 30 ms each. */
const stepsOfMany = 1;
const stepsOfOne = 30;
const allMail = { after: 0, before: Number.MAX_SAFE_INTEGER };
/** How many searches of one token may wait. */
const mostWaiting = 8;

export function searchRuns(): Runs<typeof search> {
  const line = new OneAfterAnother(mostWaiting);
  return { search: (call) => line.run(call.identity.name, () => searchAll(call)) };
}

/** Looks into project after project, by name, while there is time; requests of others run in between. */
async function searchAll({ context, response, identity, query }: Call<typeof search.search>) {
  const { q, kind: kinds = foundKinds, limit, after = '' } = query;
  const only = query.project ?? identity.project;
  const all = only === null ? context.cell.catalog.projects.all().map(({ id }) => id) : [only];
  const projects = only === null ? all.toSorted().filter((id) => id > after) : all;
  const each = only === null ? Math.min(limit, mostOfProject) : limit;
  const found = new Map<FoundKind, FoundItem[][]>();
  const more = new Set<FoundKind>();
  const partly: string[] = [];
  const unreadable: string[] = [];
  const endMs = performance.now() + mostMs;
  let last: string | undefined;
  for (const project of projects) {
    // The client has disconnected, or the time is over; one project is always looked into.
    if (response.closed || (last !== undefined && performance.now() >= endMs)) break;
    last = project;
    try {
      await withProject(context, response, project, async (store) => {
        if (q.match !== undefined && kinds.includes('mail')) {
          const steps = only === null ? stepsOfMany : stepsOfOne;
          await indexFor(store, { limit, order: 'desc' }, allMail, steps).catch(ignoreUnwritable);
        }
        let isPart = false;
        for (const kind of new Set(kinds)) {
          const of = store.snapshot((reader) => findInProject[kind](reader, q, each));
          if (of.items.length > 0) found.set(kind, [...(found.get(kind) ?? []), of.items]);
          if (of.more) more.add(kind);
          isPart ||= of.partly;
        }
        if (isPart) partly.push(project);
      });
    } catch (error) {
      if (only !== null) throw error;
      if (isBrokenProject(error)) unreadable.push(project);
      // It was deleted since it was listed.
      else if (!isSuzumioError(error, 'project-unknown')) throw error;
    }
    await turnOfOthers();
  }
  const items = foundKinds.flatMap((kind) => {
    const lists = found.get(kind) ?? [];
    const shown = fairly(lists, limit);
    if (shown.length < lists.reduce((sum, { length }) => sum + length, 0)) more.add(kind);
    return shown;
  });
  const next = last !== undefined && last !== projects.at(-1) ? { next: last } : {};
  return { items, more: foundKinds.filter((kind) => more.has(kind)), partly, unreadable, ...next };
}
