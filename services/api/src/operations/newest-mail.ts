import {
  type InboxEntry,
  inOrderOfCell,
  type MailEntry,
  type PlaceInCell,
  readMailToUser,
} from '@suzumio/store/projects/inbox-items';
import type { ProjectStore } from '@suzumio/store/projects/project-store';

/** How many messages of a project one request looks at for those that are wanted. */
const mostLookedAt = 1_000;

/** The newest messages to the person, of several projects: a bounded number. */
export class NewestMail {
  #entries: MailEntry[] = [];
  /** Messages before this place were not all looked at. */
  #unknownBefore: PlaceInCell | undefined;

  /** @param before only messages before this place */
  constructor(
    private readonly limit: number,
    private readonly before: PlaceInCell | undefined,
  ) {}

  /** Looks at a project's messages, as far back as they may be among the newest. */
  addFrom(store: ProjectStore, wanted = (entries: readonly MailEntry[]): readonly MailEntry[] => entries): void {
    let from = this.before;
    for (let looked = 0; looked < mostLookedAt;) {
      const place = from;
      const entries = store.snapshot((reader) => readMailToUser(reader, this.limit, place));
      this.#add(wanted(entries));
      from = entries.at(-1)?.place;
      if (!from || entries.length < this.limit) return;
      if (this.#isFullAfter(from)) break;
      looked += entries.length;
    }
    if (from) this.#noteUnknown(from);
  }

  /** They, the oldest first, as far back as all are known; and where what is older begins. */
  part(): { entries: InboxEntry[]; previous: PlaceInCell | undefined } {
    const unknown = this.#unknownBefore;
    const known = this.#entries.filter(({ place }) => !unknown || inOrderOfCell(place, unknown) >= 0);
    return { entries: known.map(({ entry }) => entry).reverse(), previous: unknown };
  }

  #add(entries: readonly MailEntry[]): void {
    const all = [...this.#entries, ...entries].sort((a, b) => inOrderOfCell(b.place, a.place));
    this.#entries = all.slice(0, this.limit);
    const last = this.#entries.at(-1);
    if (last && all.length > this.limit) this.#noteUnknown(last.place);
  }

  #isFullAfter(place: PlaceInCell): boolean {
    const oldest = this.#entries.at(-1);
    return this.#entries.length === this.limit && oldest !== undefined && inOrderOfCell(oldest.place, place) >= 0;
  }

  #noteUnknown(place: PlaceInCell): void {
    if (!this.#unknownBefore || inOrderOfCell(place, this.#unknownBefore) > 0) this.#unknownBefore = place;
  }
}
