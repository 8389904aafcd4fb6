/** How much of a text is looked at, from its beginning and from its end. */
const headLength = 3 * 1024;
const tailLength = 1024;
/** A power of two: the place is made of a hash's last four bits, and what is kept of the others. */
const places = 16;
const none = 2 ** 31 - 1;
/** The part of two sketches that has to be the same. */
const likeShare = 0.8;

/**
 * A short stand-in for a text, of bounded cost: capitals, numbers, punctuation and space do not count in it, and texts of
 * which only a few words differ have nearly the same one. Of each run of three words a number is made, and of those with
 * the same last bits the smallest is kept.
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

/** Whether two texts, of which these are the sketches, say nearly the same. */
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
 * A hash for each word. Whatever has a digit in it is a number, and numbers that follow each other are one. Characters
 * beyond ASCII count as letters. A text without words is one.
 */
function wordsOf(text: string): number[] {
  const words: number[] = [];
  let hash = offset;
  let whole = offset;
  let isWord = false;
  let isNumber = false;
  for (let index = 0; index <= text.length; index += 1) {
    // Past the end of the text stands a space, so that its last word ends, too.
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
