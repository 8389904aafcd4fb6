/** How much of a text is compared, from its beginning and from its end. */
const headLength = 3 * 1024;
const tailLength = 1024;
/** A power of two: a hash's last four bits choose the place, and the others are kept. */
const places = 16;
const none = 2 ** 31 - 1;
/** The share of two sketches that has to be equal. */
const likeShare = 0.8;

/**
 * A sketch of a text, of bounded cost: case, numbers, punctuation and space do not count, and texts that differ in a
 * few words have nearly the same sketch. Each run of three words is hashed, and the smallest hash of each place is kept
 * (MinHash).
 */
export function sketchOf(text: string): string {
  const part = text.length <= headLength + tailLength ? text : text.slice(0, headLength) + text.slice(-tailLength);
  const words = wordsOf(part.toLowerCase());
  const smallest = new Int32Array(places).fill(none);
  for (let from = 0; from < Math.max(1, words.length - 2); from += 1) {
    let hash = offset;
    for (let index = from; index < from + 3; index += 1) hash = mixed(hash, words[index] ?? 0);
    const place = hash & (places - 1);
    smallest[place] = Math.min(smallest[place] ?? none, hash >>> 4);
  }
  return Array.from(smallest, (value) => (value === none ? '' : value.toString(36))).join('.');
}

/** Whether the texts of two sketches are nearly the same. */
export function alike(a: string, b: string): boolean {
  if (a === b) return true;
  const others = b.split('.');
  const pairs = a.split('.').map((value, place) => [value, others[place] ?? ''] as const);
  const used = pairs.filter(([one, other]) => one !== '' || other !== '');
  const same = used.filter(([one, other]) => one === other);
  return same.length >= used.length * likeShare;
}

/** FNV-1a, 32 bits. */
const offset = 0x811c9dc5 | 0;
const mixed = (hash: number, value: number) => Math.imul(hash ^ value, 0x01000193);
const aNumber = 1;

/**
 * A hash for each word. Words with digits are numbers, and consecutive numbers count as one. Characters beyond ASCII
 * count as letters. A text without words is one word.
 */
function wordsOf(text: string): number[] {
  const words: number[] = [];
  let hash = offset;
  let whole = offset;
  let isWord = false;
  let isNumber = false;
  for (let index = 0; index <= text.length; index += 1) {
    // A space is assumed after the end, so that the last word ends, too.
    const code = index === text.length ? 0x20 : text.charCodeAt(index);
    const isDigit = code >= 0x30 && code <= 0x39;
    if (isDigit || (code >= 0x61 && code <= 0x7a) || code >= 0x80) {
      hash = mixed(hash, code);
      isWord = true;
      isNumber ||= isDigit;
      continue;
    }
    if (code > 0x20) whole = mixed(whole, code);
    if (!isWord) continue;
    if (!isNumber) words.push(hash);
    else if (words.at(-1) !== aNumber) words.push(aNumber);
    hash = offset;
    isWord = false;
    isNumber = false;
  }
  return words.length === 0 ? [whole] : words;
}
