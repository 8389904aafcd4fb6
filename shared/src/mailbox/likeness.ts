/** How much of a text is looked at, from its beginning and from its end. */
const headLength = 3 * 1024;
const tailLength = 1024;
/** Words that are compared together. */
const shingleWords = 3;
const places = 16;
/** The part of two sketches that has to be the same. */
const likeShare = 0.8;

/**
 * A short stand-in for a text, of bounded cost: capitals, numbers, punctuation and space do not count in it, and texts of
 * which only a few words differ have nearly the same one. Of each run of three words a number is made, and of those with
 * the same last digit the smallest is kept.
 */
export function sketchOf(text: string): string {
  const part = text.length <= headLength + tailLength ? text : text.slice(0, headLength) + text.slice(-tailLength);
  const words = wordsOf(part);
  const smallest = new Array<number | undefined>(places).fill(undefined);
  const last = Math.max(0, words.length - shingleWords);
  for (let from = 0; from <= last; from += 1) {
    const hash = hashOf(words.slice(from, from + shingleWords).join(' '));
    const place = hash % places;
    const rest = Math.floor(hash / places);
    smallest[place] = Math.min(smallest[place] ?? Infinity, rest);
  }
  return smallest.map((value) => value?.toString(36) ?? '').join('.');
}

/** Whether two texts, of which these are the sketches, say nearly the same. */
export function alike(a: string, b: string): boolean {
  if (a === b) return true;
  const others = b.split('.');
  const pairs = a.split('.').map((value, place) => [value, others[place] ?? ''] as const);
  const used = pairs.filter(([one, other]) => one !== '' || other !== '');
  const same = used.filter(([one, other]) => one === other);
  return same.length >= used.length * likeShare;
}

/** Words in small letters; whatever has a digit in it is a number, and numbers that follow each other are one. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text.trim()];
  const plain = words.map((word) => (/\p{N}/u.test(word) ? '#' : word));
  return plain.filter((word, index) => word !== '#' || plain[index - 1] !== '#');
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash;
}
