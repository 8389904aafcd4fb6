/** A text without what copying it changes, and where in it each character of that is. */
export interface Projection {
  chars: string;
  /** Where each character's piece of the text begins, and where it ends. */
  from: Int32Array;
  to: Int32Array;
}

/** Space of any kind, the marks of quoted lines, and line ends as JSON writes them. */
const space = String.raw`(?:[\s>|]|\\+[nrt])+`;
const unicode = String.raw`\\+u(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{4}))`;
const other = String.raw`\\*([^\\])`;
const backslashes = String.raw`\\+`;

/**
 * Makes one of all the ways in which a text may be written down: runs of space, quote marks and line prefixes become a
 * single space, and escapes what they stand for, however often they were escaped.
 */
export function projectionOf(text: string): Projection {
  const pieces = new RegExp(`(${space})|${unicode}|${other}|${backslashes}`, 'gsy');
  const from = new Int32Array(text.length);
  const to = new Int32Array(text.length);
  const parts: string[] = [];
  let length = 0;
  for (const piece of text.matchAll(pieces)) {
    const char = charOf(piece);
    if (char === '') continue;
    for (let unit = 0; unit < char.length; unit += 1, length += 1) {
      from[length] = piece.index;
      to[length] = piece.index + piece[0].length;
    }
    parts.push(char);
  }
  return { chars: parts.join(''), from, to };
}

function charOf([, spaces, braced, four, char]: RegExpExecArray): string {
  if (spaces !== undefined) return ' ';
  const code = braced ?? four;
  if (code === undefined) return char ?? '';
  const point = Number.parseInt(code, 16);
  return point > 0x10ffff ? '' : String.fromCodePoint(point);
}
