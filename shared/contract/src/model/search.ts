import * as z from 'zod';

/** What messages are searched for: all of it has to be in one message. */
export interface Search {
  /** Words, beginnings of words and phrases, without the marks that make them so. */
  words: string[];
  /** The same as an FTS5 expression; undefined where there are none. */
  match?: string;
  /** Texts in scripts that put no spaces between words: the index has no word of theirs, so messages are looked through. */
  verbatim: string[];
}

const maxChars = 200;
const maxTerms = 16;

/** Has a letter of a script that puts no spaces between words. */
export const withoutSpaces =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

export const searchMeaning =
  'Only those in whose text all of this is: words, in any case and without regard to accents; "a phrase" in quotation marks; or the beginning of a word, such as `pars*`. What is searched for first in a large project is found part by part.';

/** Words, phrases in quotation marks, and beginnings of words, such as `pars*`. Nothing else in it means anything. */
export const searchText = z
  .string()
  .max(maxChars, { error: `at most ${String(maxChars)} characters` })
  .transform((text, context): Search => {
    const refuse = (message: string) => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    if (text.split('"').length % 2 === 0) return refuse('a phrase begins with a quotation mark that none ends');
    const clean = text.toWellFormed().replace(/\p{Cc}/gu, ' ');
    const terms = [...clean.matchAll(/"([^"]*)"|([^\s"]+)/g)].map(([, phrase, word = '']) => phrase ?? word);
    if (terms.length === 0) return refuse('expected words to look for');
    if (terms.length > maxTerms) return refuse(`at most ${String(maxTerms)} words and phrases`);
    const empty = terms.find((term) => !/[\p{L}\p{N}]/u.test(term));
    if (empty !== undefined) return refuse(`expected words with letters or digits, not "${empty}"`);
    const verbatim = terms.filter((term) => withoutSpaces.test(term));
    const indexed = terms.filter((term) => !withoutSpaces.test(term));
    const match = indexed.map((term) => (term.endsWith('*') ? `"${term.slice(0, -1)}" *` : `"${term}"`)).join(' ');
    return { words: indexed.map((term) => term.replace(/\*$/, '')), ...(match === '' ? {} : { match }), verbatim };
  });

/** A place in a text where something was found, in pieces. */
export const foundText = z.array(z.object({ text: z.string(), matched: z.boolean() }));
export type FoundText = z.infer<typeof foundText>;
