// Texts of files are handled as byte strings here: one character a byte (latin1), so that whatever a patch does not touch
// stays as it is, in any encoding.

/** A file as lines without their line breaks. */
export interface Lines {
  readonly lines: readonly string[];
  /** Whether the last line has a line break. */
  readonly endsWithBreak: boolean;
}

export function linesOf(text: string): Lines {
  if (text === '') return { lines: [], endsWithBreak: true };
  const lines = text.split('\n');
  const endsWithBreak = lines.at(-1) === '';
  return { lines: endsWithBreak ? lines.slice(0, -1) : lines, endsWithBreak };
}

export function textOf({ lines, endsWithBreak }: Lines): string {
  return lines.length === 0 ? '' : lines.join('\n') + (endsWithBreak ? '\n' : '');
}

/** A text in UTF-8, one character a byte. */
export function toByteString(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** A byte string as it reads in UTF-8. */
export function fromByteString(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** How all of some text's lines end; undefined where they differ, or there is none. */
export function lineEnding(text: string): 'lf' | 'crlf' | undefined {
  let [lf, crlf] = [0, 0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (text[at - 1] === '\r') crlf += 1;
    else lf += 1;
  }
  if (lf > 0 && crlf > 0) return undefined;
  return lf > 0 ? 'lf' : crlf > 0 ? 'crlf' : undefined;
}

/** A text with the line endings of another, where each has one kind of them. */
export function withEndingsOf(other: string, text: string): string {
  const wanted = lineEnding(other);
  const own = lineEnding(text);
  if (wanted === undefined || own === undefined || wanted === own) return text;
  return wanted === 'crlf' ? text.replaceAll('\n', '\r\n') : text.replaceAll('\r\n', '\n');
}

/** How the line ends that has an index of a text. */
export function endingAt(text: string, at: number): 'lf' | 'crlf' {
  const end = text.indexOf('\n', at);
  // The last line is as the one before it.
  const last = end === -1 ? text.lastIndexOf('\n', at) : end;
  return last > 0 && text[last - 1] === '\r' ? 'crlf' : 'lf';
}

/** A text whose lines all end with LF, with those of a file's line; any other as it is. */
export function withEnding(ending: 'lf' | 'crlf', text: string): string {
  return ending === 'crlf' && lineEnding(text) === 'lf' ? text.replaceAll('\n', '\r\n') : text;
}
