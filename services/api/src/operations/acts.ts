import { setImmediate as turnOfOthers } from 'node:timers/promises';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { acts } from '@suzumio/contract/operations/acts';
import type { Cell } from '@suzumio/store/cell/cell';
import { type ActEntry, type FoundActs, readActs } from '@suzumio/store/projects/acts';
import { inOrderOfCell, type PlaceInCell } from '@suzumio/store/projects/inbox-items';
import { isBrokenProject } from '@suzumio/store/sqlite/store-fault';
import { withProject } from '../project-access.js';
import type { Runs } from '../routes.js';

export const actRuns: Runs<typeof acts> = {
  async listActs({ context, response, identity, query }) {
    const { project: named, limit, before, actor } = query;
    const only = named ?? identity.project;
    const newest = new NewestActs(limit);
    const unreadable: string[] = [];
    if (only === null && identity.scope === 'admin') newest.add(ofCell(context.cell, { limit, before, actor }));
    for (const project of only === null ? context.cell.catalog.projects.all().map(({ id }) => id) : [only]) {
      // The client has disconnected.
      if (response.closed) break;
      try {
        await withProject(context, response, project, (store) =>
          newest.add(store.snapshot((reader) => readActs(reader, { limit, before, actor }))),
        );
      } catch (error) {
        if (only !== null) throw error;
        if (isBrokenProject(error)) unreadable.push(project);
        // It was deleted since it was listed.
        else if (!isSuzumioError(error, 'project-unknown')) throw error;
      }
      await turnOfOthers();
    }
    const { entries, previous } = newest.part();
    return {
      items: entries.map(({ act }) => act),
      unreadable,
      ...(previous && { previous: `${previous.atMs}.${previous.project}.${previous.seq}` }),
    };
  },
};

/** What was done to the cell: its place is before those of projects at the same moment. */
function ofCell(
  { catalog }: Cell,
  { limit, before, actor }: { limit: number; before: PlaceInCell | undefined; actor: string | undefined },
): FoundActs {
  const bound = before && (before.project === '' ? { before: before.seq } : { until: before.atMs + 1 });
  const { items, previous } = catalog.audit.acts({ limit, order: 'desc', actor, ...bound });
  const entries = items.map(({ seq, act }) => ({ place: { atMs: Date.parse(act.at), project: '', seq }, act }));
  return { entries, knownFrom: previous === undefined ? undefined : entries.at(-1)?.place };
}

/** The newest acts of several projects: a bounded number. */
class NewestActs {
  #entries: ActEntry[] = [];
  /** What is before this place is not all known. */
  #knownFrom: PlaceInCell | undefined;

  constructor(private readonly limit: number) {}

  add({ entries, knownFrom }: FoundActs): void {
    const all = [...this.#entries, ...entries].sort((a, b) => inOrderOfCell(b.place, a.place));
    this.#entries = all.slice(0, this.limit);
    const last = this.#entries.at(-1);
    if (last && all.length > this.limit) this.#note(last.place);
    if (knownFrom) this.#note(knownFrom);
  }

  /** They, the newest first, as far back as all are known; and where what is older begins. */
  part(): { entries: ActEntry[]; previous: PlaceInCell | undefined } {
    const from = this.#knownFrom;
    return { entries: this.#entries.filter(({ place }) => !from || inOrderOfCell(place, from) >= 0), previous: from };
  }

  #note(place: PlaceInCell): void {
    if (!this.#knownFrom || inOrderOfCell(place, this.#knownFrom) > 0) this.#knownFrom = place;
  }
}
