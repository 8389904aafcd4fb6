const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const list = 0x5b;
const object = 0x7b;

/**
 * Counts the members of lists and objects in a JSON text before it is parsed: the cost of parsing and checking grows
 * with them, far more than with the length. Counting stops beyond `most`. Invalid JSON gets some count, too.
 */
export function countMembers(bytes: Uint8Array, most: number): number {
  let members = 0;
  for (let at = 0; at < bytes.length && members <= most; at += 1) {
    const byte = bytes[at];
    if (byte === quote) at = endOfText(bytes, at + 1);
    else if (byte === comma || byte === list || byte === object) members += 1;
  }
  return members;
}

/**
 * The end of the string that begins at `from`. Long strings are most of a long body; the platform's own search is the
 * fastest.
 */
function endOfText(bytes: Uint8Array, from: number): number {
  for (let end = bytes.indexOf(quote, from); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return bytes.length;
}
