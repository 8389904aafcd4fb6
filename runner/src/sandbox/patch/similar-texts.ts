import { type Folded, foldCharacters, foldLineEnds, foldSpaces } from '../text/folded.js';

/** Where a text has something similar to what is sought. */
export interface SimilarText {
  /** Its beginning and its end in the text, a byte string. */
  readonly start: number;
  readonly end: number;
}

/** Two foldings: of characters, then of white space. */
class Form {
  readonly text: string;

  private constructor(
    readonly characters: Folded,
    private readonly spaces: Folded,
  ) {
    this.text = spaces.text;
  }

  /** @param anySpaces whether tabs are as spaces */
  static of(bytes: string, anySpaces: boolean): Form {
    const characters = foldCharacters(bytes);
    return new Form(characters, anySpaces ? foldSpaces(characters.text) : foldLineEnds(characters.text));
  }

  indexOf(source: number): number | undefined {
    const at = this.characters.indexOf(source);
    return at === undefined ? undefined : this.spaces.indexOf(at);
  }

  sourceOf(index: number, isEnd: boolean): number | undefined {
    const at = this.spaces.sourceOf(index, isEnd);
    return at === undefined ? undefined : this.characters.sourceOf(at, isEnd);
  }

  /** A part of it before its white space was folded. */
  withSpaces(from: number, to: number): string {
    return this.characters.text.slice(this.spaces.sourceOf(from, false), this.spaces.sourceOf(to, true));
  }
}

/** Finds what is similar to some text: in characters first, and only where that is nowhere, with tabs as spaces. */
export class SimilarTexts {
  readonly #forms = new Map<boolean, Form>();

  /** @param text a byte string */
  constructor(private readonly text: string) {}

  /** @param wholeLines whether it begins and ends with lines */
  find(wanted: string, wholeLines: boolean): SimilarText[] {
    for (const anySpaces of [false, true]) {
      const matches = this.#find(wanted, wholeLines, anySpaces);
      if (matches.length > 0) return matches;
    }
    return [];
  }

  #find(wanted: string, wholeLines: boolean, anySpaces: boolean): SimilarText[] {
    const form = this.#forms.get(anySpaces) ?? Form.of(this.text, anySpaces);
    this.#forms.set(anySpaces, form);
    const sought = Form.of(wanted, anySpaces);
    // What is nothing but unseen characters is everywhere.
    if (sought.text.trim() === '') return [];
    const matches: SimilarText[] = [];
    for (let at = form.text.indexOf(sought.text); at !== -1; at = form.text.indexOf(sought.text, at + 1)) {
      if (wholeLines && at > 0 && form.text[at - 1] !== '\n') continue;
      const last = at + sought.text.length;
      if (anySpaces && !hasLikeSpaces(form.withSpaces(at, last), sought.characters.text)) continue;
      const start = form.sourceOf(at, wholeLines);
      const end = form.sourceOf(last, true);
      if (start !== undefined && end !== undefined) matches.push({ start, end });
    }
    return matches;
  }
}

/** Whether each white space of two texts that are equal but for it is the same, or one of them has a tab in it. */
function hasLikeSpaces(a: string, b: string): boolean {
  const runs = (text: string): string[] => [...text.matchAll(/[ \t]+(?![ \t\r]*\n)/g)].map(([run]) => run);
  const others = runs(b);
  return runs(a).every((run, index) => run === others[index] || run.includes('\t') || others[index]?.includes('\t'));
}

/**
 * The replacement of a text that is similar to `wanted`. What `wanted` and its replacement have in common stays as the text has it.
 */
export function replaceSimilar(found: string, wanted: string, replacement: string): string {
  const forms = [false, true].map((anySpaces) => [Form.of(found, anySpaces), Form.of(wanted, anySpaces)] as const);
  const [own, sought] = forms.find(([a, b]) => a.text === b.text) ?? [];
  if (!own || !sought) return replacement;
  const indexIn = (at: number): number | undefined => {
    const index = sought.indexOf(at);
    return index === undefined ? undefined : own.sourceOf(index, true);
  };
  let head = commonStart(wanted, replacement);
  while (head > 0 && indexIn(head) === undefined) head -= 1;
  let tail = commonEnd(wanted.slice(head), replacement.slice(head));
  while (tail > 0 && indexIn(wanted.length - tail) === undefined) tail -= 1;
  const [from = 0, to = found.length] = [head === 0 ? 0 : indexIn(head), indexIn(wanted.length - tail)];
  return found.slice(0, from) + replacement.slice(head, replacement.length - tail) + found.slice(Math.max(from, to));
}

function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

function commonEnd(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a.at(-1 - length) === b.at(-1 - length)) length += 1;
  return length;
}
