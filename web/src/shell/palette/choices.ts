import type { IconName } from '../../parts/icon.js';
import type { MarkKind } from '../../parts/mark.js';

/** What can be chosen in the palette. */
export interface Choice {
  /** Where it leads, where it leads somewhere. */
  readonly id: string;
  readonly title: string;
  /** What it is about, or what it will do. */
  readonly note?: string | undefined;
  readonly sign?: { readonly icon: IconName } | { readonly mark: MarkKind };
  /** The signs of the key that does the same. */
  readonly keys?: string | undefined;
  readonly choose: () => void;
}

/** Choices of one kind. */
export interface Group {
  readonly title: string;
  readonly choices: readonly Choice[];
  /** How many are shown before anything is written. @default few */
  readonly usual?: number;
}

/** So many of a group are shown, unless it says otherwise: without words, and with. */
const most = { usual: 6, asked: 8 };

/** The choices in which all words are, those first that begin with them; without words, the first of each group. */
export function matching(groups: readonly Group[], text: string): Group[] {
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
function rankOf({ title, note = '' }: Choice, words: readonly string[]): number {
  const name = title.toLowerCase();
  const all = `${name} ${note.toLowerCase()}`;
  if (!words.every((word) => all.includes(word))) return Infinity;
  const [first = ''] = words;
  if (name.startsWith(first)) return 0;
  if (name.split(/[^\p{L}\p{N}]+/u).some((part) => part.startsWith(first))) return 1;
  return name.includes(first) ? 2 : 3;
}
