/** What the search reads, once somebody searches. */
export interface SearchIndex {
  /** Of each page its path, its title, and whether it says how things are, rather than how they came about. */
  pages: [path: string, title: string, isNow: boolean][];
  /** Of each section the number of its page, its anchor, its title, its text. */
  sections: [page: number, anchor: string, title: string, text: string][];
}

export interface Found {
  path: string;
  anchor: string;
  title: string;
  /** The title of its page. */
  page: string;
  /** The text around the first word that was found in it. */
  excerpt: string;
}

const mostWords = 8;
const excerptChars = 120;

/** The sections that have all words, or words that begin so: those with the words in their title first. */
export function find({ pages, sections }: SearchIndex, asked: string, most: number): Found[] {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean).slice(0, mostWords);
  if (words.length === 0) return [];
  const ranked = sections.flatMap(([number, anchor, title, text]) => {
    const [path = '', page = '', isNow = false] = pages[number] ?? [];
    const [inTitle, inPage, inText] = [wordsOf(title), page.toLowerCase(), text.toLowerCase()];
    const ranks = words.map((word) => rankOf(word, inTitle, inPage, inText));
    if (ranks.includes(0)) return [];
    const phrase = words.join(' ');
    const whole = [inTitle, inText].filter((part) => begins(part, phrase) >= 0).length;
    const rank = ranks.reduce((total, one) => total + one, (isNow ? 6 : 0) + 3 * whole);
    const places = [phrase, ...words].map((word) => begins(inText, word)).filter((place) => place >= 0);
    return [{ rank, found: { path, anchor, title, page, excerpt: excerptAt(text, places[0] ?? 0) } }];
  });
  return ranked
    .sort((one, other) => other.rank - one.rank)
    .slice(0, most)
    .map(({ found }) => found);
}

/** How much a section is about a word; 0 if it does not have it. */
function rankOf(word: string, title: string, page: string, text: string): number {
  if (begins(title, word) >= 0) return title.startsWith(word) ? 7 : 6;
  if (begins(page, word) >= 0) return 3;
  return begins(text, word) >= 0 ? 1 : 0;
}

/** A title in small letters, with the words of names such as `sendMessage`. */
function wordsOf(title: string): string {
  const apart = title.replaceAll(/([a-z])([A-Z])/g, '$1 $2');
  return (apart === title ? title : `${title} ${apart}`).toLowerCase();
}

/** Where a word begins with this; -1 if none does. */
function begins(text: string, word: string): number {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(at - 1)) || !/[\p{L}\p{N}]/u.test(word.charAt(0))) return at;
  }
  return -1;
}

/** The text around a place, in whole words. */
function excerptAt(text: string, at: number): string {
  const from = at < 40 ? 0 : text.indexOf(' ', at - 40) + 1;
  const rest = text.slice(from, from + excerptChars);
  const isCut = from + excerptChars < text.length;
  const end = isCut ? rest.lastIndexOf(' ') : -1;
  return `${from > 0 ? '… ' : ''}${end > 0 ? rest.slice(0, end) : rest}${isCut ? ' …' : ''}`;
}
