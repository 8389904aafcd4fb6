/** What can be chosen is found by its title, and by what is said of it. */
interface Named {
  readonly title: string;
  /** What it is about, or what it will do. */
  readonly note?: string | undefined;
}

/** Choices of one kind. */
export interface Group<Choice extends Named> {
  readonly title: string;
  readonly choices: readonly Choice[];
  /** How many are shown before anything is written. @default few */
  readonly usual?: number;
}

/** So many of a group are shown, unless it says otherwise: without words, and with. */
const most = { usual: 6, asked: 8 };

/** The choices in which all words are, those first that begin with them; without words, the first of each group. */
export function matching<Choice extends Named>(groups: readonly Group<Choice>[], text: string): Group<Choice>[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return groups
    .map(({ title, choices, usual = most.usual }) => ({
      title,
      choices:
        words.length === 0
          ? choices.slice(0, usual)
          : choices
              .map((choice) => ({ choice, rank: rankOf(choice, words) }))
              .filter(({ rank }) => rank < Infinity)
              .sort((one, other) => one.rank - other.rank)
              .slice(0, most.asked)
              .map(({ choice }) => choice),
    }))
    .filter(({ choices }) => choices.length > 0);
}

/** Lower is nearer to what was written; infinite where a word is missing. */
function rankOf({ title, note = '' }: Named, words: readonly string[]): number {
  const name = title.toLowerCase();
  const all = `${name} ${note.toLowerCase()}`;
  if (!words.every((word) => all.includes(word))) return Infinity;
  const [first = ''] = words;
  if (name.startsWith(first)) return 0;
  if (name.split(/[^\p{L}\p{N}]+/u).some((part) => part.startsWith(first))) return 1;
  return name.includes(first) ? 2 : 3;
}
