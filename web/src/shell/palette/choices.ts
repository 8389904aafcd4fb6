/** What can be chosen is found by its title; places and what is found, by what is said of them, too. */
interface Named {
  /** Where it leads, or what it does: the same is found once. */
  readonly id: string;
  readonly title: string;
  /** What it is about, or what it will do. */
  readonly note?: string | undefined;
}

/** Choices of one kind. */
export interface Group<Choice extends Named> {
  readonly title: string;
  readonly choices: readonly Choice[];
  /** Whether they do something, instead of leading somewhere. */
  readonly areActs?: true;
  /** How many are shown before anything is written. @default few */
  readonly usual?: number;
}

/** So many of a group are shown, unless it says otherwise: without words, and with. */
const most = { usual: 6, asked: 8 };

/** How near a choice is to what was written: lower is nearer. */
const ranks = { whole: 0, beginning: 1, wordOf: 2, inside: 3, note: 4, none: Infinity };

/**
 * The choices in which all words are. Those are first that are nearest to them, and so are their groups; of groups that are
 * equally near, those of acts are last: Enter goes somewhere rather than does something. Without words, the first of each group.
 */
export function matching<Choice extends Named>(groups: readonly Group<Choice>[], text: string): Group<Choice>[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) {
    return groups
      .map((group) => ({ ...group, choices: group.choices.slice(0, group.usual ?? most.usual) }))
      .filter(({ choices }) => choices.length > 0);
  }
  return groups
    .map((group) => {
      const ranked = group.choices
        .map((choice) => ({ choice, rank: rankOf(choice, words, group.areActs === true) }))
        .filter(({ rank }) => rank < ranks.none)
        .sort((one, other) => one.rank - other.rank)
        .slice(0, most.asked);
      return { group, ranked, best: ranked[0]?.rank ?? ranks.none };
    })
    .filter(({ ranked }) => ranked.length > 0)
    .sort((one, other) => one.best - other.best || actsLast(one.group) - actsLast(other.group))
    .map(({ group, ranked }) => ({ ...group, choices: ranked.map(({ choice }) => choice) }));
}

/** All groups, with a key for each choice: one place can stand in several. What was found stands once, below what is here. */
export function keyed<Choice extends Named>(
  here: readonly Group<Choice>[],
  found: readonly Group<Choice>[],
): Group<Choice & { key: string }>[] {
  const known = new Set(here.flatMap(({ choices }) => choices.map(({ id }) => id)));
  const further = found.map((group) => ({
    ...group,
    choices: group.choices.filter(({ id }) => !known.has(id) && known.add(id)),
  }));
  return [...here, ...further]
    .filter(({ choices }) => choices.length > 0)
    .map((group) => ({
      ...group,
      choices: group.choices.map((choice) => ({ ...choice, key: `${group.title} ${choice.id}` })),
    }));
}

const actsLast = ({ areActs = false }: { areActs?: boolean }) => Number(areActs);

/** What an act is about, and will do, does not find it: few words would. */
function rankOf({ title, note = '' }: Named, words: readonly string[], byTitleAlone: boolean): number {
  const name = title.toLowerCase();
  const all = byTitleAlone ? name : `${name} ${note.toLowerCase()}`;
  if (!words.every((word) => all.includes(word))) return ranks.none;
  if (name === words.join(' ')) return ranks.whole;
  const [first = ''] = words;
  if (name.startsWith(first)) return ranks.beginning;
  if (name.split(/[^\p{L}\p{N}]+/u).some((part) => part.startsWith(first))) return ranks.wordOf;
  return name.includes(first) ? ranks.inside : ranks.note;
}
