import { createRedactor, redacted, shortestSecret } from './redactor.js';

/** Secrets to be found in texts that come in pieces. */
export interface KnownSecrets {
  /** Matches the longest secret at a place; undefined without any. */
  readonly whole: RegExp | undefined;
  readonly all: readonly string[];
  readonly longest: number;
}

/** Secrets shorter than eight characters are left out: they would redact ordinary text. */
export function knownSecrets(secrets: readonly string[]): KnownSecrets {
  // A reader who comes in the middle of one with a blank would see the rest of it.
  const parts = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), ...secret.split(/\s+/)]);
  const all = [...new Set(parts)].filter(({ length }) => length >= shortestSecret);
  all.sort((a, b) => b.length - a.length);
  const pattern = all.map((secret) => secret.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)).join('|');
  return { whole: pattern === '' ? undefined : new RegExp(pattern, 'g'), all, longest: all[0]?.length ?? 0 };
}

/** Tokens by their form. None of ours has more characters. */
const forms = createRedactor();
const maxWordChars = 2_048;

/** What stands for a word that is too long to be told from a token. */
const longWord = '…';

/**
 * Removes secrets from a text that comes in pieces, however they are split. What may be the beginning of a secret is
 * held back until more has come: at most as much as the longest secret, and the last word.
 */
export class RedactedText {
  /** May be the beginning of a known secret. */
  #held = '';
  /** The last word, free of known secrets; it may be the beginning of a token. */
  #word = '';
  /** Whether the rest of the present word is left out. */
  #leavesWord: boolean;

  /** @param midway whether the text is not read from its beginning: what is left of its first word may be half a secret */
  constructor(
    private readonly secrets: KnownSecrets,
    midway: boolean,
  ) {
    this.#leavesWord = midway;
  }

  /** Returns what may be shown now. */
  write(piece: string): string {
    const known = this.#withoutKnown(this.#held + piece);
    const text = this.#word + (this.#leavesWord ? this.#afterWord(known) : known);
    const wordAt = lastWordAt(text);
    this.#word = text.slice(wordAt);
    const shown = forms.redact(text.slice(0, wordAt));
    if (this.#word.length <= maxWordChars) return shown;
    this.#word = '';
    this.#leavesWord = true;
    return shown + longWord;
  }

  /** Ends the text, and returns the rest of it. */
  end(): string {
    const rest = this.#held.length >= shortestSecret ? redacted : this.#held;
    this.#held = '';
    return this.write(`${rest}\n`).slice(0, -1);
  }

  #afterWord(text: string): string {
    // Keys have more signs than tokens; a blank ends any of them.
    const at = text.search(/\s/);
    if (at === -1) return '';
    this.#leavesWord = false;
    return text.slice(at);
  }

  /** Replaces known secrets, and holds back what one may begin with. */
  #withoutKnown(text: string): string {
    const { whole, all, longest } = this.secrets;
    let [at, clean] = [0, ''];
    for (;;) {
      if (whole) whole.lastIndex = at;
      const found = whole?.exec(text) ?? undefined;
      const begun = beginningIn(text, Math.max(at, text.length - longest + 1), all);
      if (begun !== undefined && (found === undefined || begun <= found.index)) {
        this.#held = text.slice(begun);
        return clean + text.slice(at, begun);
      }
      if (found === undefined) {
        this.#held = '';
        return clean + text.slice(at);
      }
      clean += text.slice(at, found.index) + redacted;
      at = found.index + found[0].length;
    }
  }
}

/** The first place from which on a text is the beginning of a secret, and not all of it. */
function beginningIn(text: string, from: number, secrets: readonly string[]): number | undefined {
  for (let at = from; at < text.length; at += 1) {
    const rest = text.slice(at);
    if (secrets.some((secret) => secret.length > rest.length && secret.startsWith(rest))) return at;
  }
  return undefined;
}

function isOfWord(char: string): boolean {
  return /^[A-Za-z0-9._~+/=-]$/.test(char);
}

/** Where the last word begins, with a scheme of credentials before it. */
function lastWordAt(text: string): number {
  let at = text.length;
  while (at > 0 && isOfWord(text[at - 1] ?? '')) at -= 1;
  let before = at;
  while (before > 0 && text[before - 1] === ' ') before -= 1;
  const scheme = before < at ? /(?:bearer|basic)$/i.exec(text.slice(Math.max(0, before - 6), before)) : null;
  return scheme ? before - scheme[0].length : at;
}
