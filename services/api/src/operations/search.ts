import { setImmediate as turnOfOthers } from 'node:timers/promises';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type FoundItem, type FoundKind, foundKinds } from '@suzumio/contract/model/found';
import type { Search } from '@suzumio/contract/model/search';
import type { search } from '@suzumio/contract/operations/search';
import { indexFor } from '@suzumio/store/mail/index-messages';
import { findInProject } from '@suzumio/store/projects/find-in-project';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
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
  const many = () => context.cell.catalog.projects.all().map(({ id }) => id);
  const projects =
    only === null
      ? many()
          .toSorted()
          .filter((id) => id > after)
      : [only];
  const wanted: Wanted = {
    q,
    kinds: new Set(kinds),
    limit,
    each: only === null ? Math.min(limit, mostOfProject) : limit,
    indexSteps: only === null ? stepsOfMany : stepsOfOne,
  };
  const findings = new Findings();
  const partly: string[] = [];
  const unreadable: string[] = [];
  const endMs = performance.now() + mostMs;
  let last: string | undefined;
  for (const project of projects) {
    // The client has disconnected, or the time is over; one project is always looked into.
    if (response.closed || (last !== undefined && performance.now() >= endMs)) break;
    last = project;
    try {
      if (await withProject(context, response, project, (store) => lookInto(store, wanted, findings))) {
        partly.push(project);
      }
    } catch (error) {
      if (only !== null) throw error;
      if (isBrokenProject(error)) unreadable.push(project);
      // It was deleted since it was listed.
      else if (!isSuzumioError(error, 'project-unknown')) throw error;
    }
    await turnOfOthers();
  }
  const next = last !== undefined && last !== projects.at(-1) ? { next: last } : {};
  return { ...findings.shown(limit), partly, unreadable, ...next };
}

interface Wanted {
  q: Search;
  kinds: ReadonlySet<FoundKind>;
  /** The most of one kind in the answer. */
  limit: number;
  /** The most of one kind from a project. */
  each: number;
  indexSteps: number;
}

/** @returns whether only a part of it was searched */
async function lookInto(store: ProjectStore, wanted: Wanted, findings: Findings): Promise<boolean> {
  const { q, kinds, limit, each, indexSteps } = wanted;
  if (q.match !== undefined && kinds.has('mail')) {
    await indexFor(store, { limit, order: 'desc' }, allMail, indexSteps).catch(ignoreUnwritable);
  }
  let isPart = false;
  for (const kind of kinds) {
    const of = store.snapshot((reader) => findInProject[kind](reader, q, each));
    findings.add(kind, of);
    isPart ||= of.partly;
  }
  return isPart;
}

/** What was found in the projects so far. */
class Findings {
  readonly #found = new Map<FoundKind, FoundItem[][]>();
  readonly #more = new Set<FoundKind>();

  add(kind: FoundKind, { items, more }: { items: FoundItem[]; more: boolean }): void {
    if (items.length > 0) this.#found.set(kind, [...(this.#found.get(kind) ?? []), items]);
    if (more) this.#more.add(kind);
  }

  /** As much of each kind as an answer has, of all projects the same. */
  shown(limit: number): { items: FoundItem[]; more: FoundKind[] } {
    const items = foundKinds.flatMap((kind) => {
      const lists = this.#found.get(kind) ?? [];
      const shown = fairly(lists, limit);
      if (shown.length < lists.reduce((sum, { length }) => sum + length, 0)) this.#more.add(kind);
      return shown;
    });
    return { items, more: foundKinds.filter((kind) => this.#more.has(kind)) };
  }
}
