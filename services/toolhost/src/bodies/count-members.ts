const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const list = 0x5b;
const object = 0x7b;

/**
 * How many members the lists and objects of a JSON text have, before it is parsed: what parsing and checking it costs
 * grows with them, far more than with its length. Counting stops where there are more than `most`; what is no JSON counts
 * as something, too.
 */
export function countMembers(bytes: Uint8Array, most: number): number {
  let members = 0;
  let inText = false;
  for (let at = 0; at < bytes.length && members <= most; at += 1) {
    const byte = bytes[at];
    if (inText) {
      if (byte === backslash) at += 1;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (byte === comma || byte === list || byte === object) members += 1;
  }
  return members;
}
