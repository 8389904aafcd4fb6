import type { Decision } from '@suzumio/contract/model/inbox';
import { type Decided, readDecided } from '@suzumio/store/projects/decided';
import { inOrderOfCell, type PlaceInCell } from '@suzumio/store/projects/inbox-items';
import type { ProjectStore } from '@suzumio/store/projects/project-store';

/** The most events that one request looks at: half of them once in every project, half where the newest are. */
const mostLooks = 200_000;
/** The most that are looked at without others having their turn. */
const mostAtOnce = 5_000;
const fewestAtOnce = 50;

/** The newest decisions of several projects: a bounded number. */
export class NewestDecided {
  #decided: Decided[] = [];
  #looksLeft = mostLooks;
  readonly #atFirst: number;
  /** Where what was not looked at begins, by project. */
  readonly #rest = new Map<string, PlaceInCell>();

  /** @param before only what is before this place */
  constructor(
    private readonly limit: number,
    private readonly before: PlaceInCell | undefined,
    projects: number,
  ) {
    this.#atFirst = Math.max(fewestAtOnce, Math.min(mostAtOnce, Math.floor(mostLooks / 2 / Math.max(1, projects))));
  }

  /** Looks at a project's events, once more or for the first time. */
  addFrom(store: ProjectStore): void {
    const rest = this.#rest.get(store.project);
    const looks = rest === undefined ? this.#atFirst : mostAtOnce;
    const { decided, lookedTo } = store.snapshot((reader) =>
      readDecided(reader, { before: rest ?? this.before, looks }),
    );
    this.#looksLeft -= looks;
    this.#decided.push(...decided);
    if (lookedTo) this.#rest.set(store.project, lookedTo);
    else this.#rest.delete(store.project);
  }

  /** The project in which to look further; undefined where enough is found, or was looked at. */
  further(): string | undefined {
    const newest = this.#newestRest();
    if (newest === undefined || this.#looksLeft <= 0) return undefined;
    return this.#known(newest).length >= this.limit ? undefined : newest.project;
  }

  /** A project that cannot be looked at any more. */
  leave(project: string): void {
    this.#rest.delete(project);
  }

  /** They, the newest first, as far back as all are known; and where what is older begins. */
  part(): { items: Decision[]; previous: PlaceInCell | undefined } {
    const newest = this.#newestRest();
    const known = this.#known(newest).sort((a, b) => inOrderOfCell(b.place, a.place));
    const shown = known.slice(0, this.limit);
    return {
      items: shown.map(({ entry }) => entry),
      previous: known.length > shown.length ? shown.at(-1)?.place : newest,
    };
  }

  #newestRest(): PlaceInCell | undefined {
    let newest: PlaceInCell | undefined;
    for (const place of this.#rest.values()) if (!newest || inOrderOfCell(place, newest) > 0) newest = place;
    return newest;
  }

  #known(rest: PlaceInCell | undefined): Decided[] {
    return this.#decided.filter(({ place }) => !rest || inOrderOfCell(place, rest) >= 0);
  }
}
