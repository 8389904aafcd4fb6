/** Every character sequence that some reader takes for a line break. */
const lineBreak = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/gu;

/**
 * Characters that are invisible, or change the visible order: control characters other than tab and line feed, bidi
 * embeddings, overrides and isolates, tag characters, and lone surrogates, which UTF-8 cannot represent.
 */
// oxlint-disable-next-line no-control-regex -- finding control characters is what this is for
const hidden = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}\p{Cs}]/gu;

/** An indivisible unit of a body: one code point, or a carriage return with its line feed. */
const unit = /\r\n|./gsu;

/** Splits untrusted or multi-line text into lines that contain nothing like a line break. */
export function visibleLines(text: string): string[] {
  return text.split(lineBreak).map((line) => line.replace(hidden, shown));
}

/** Untrusted text as one line: line breaks, control characters and the space around them become single spaces. */
export function oneLine(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(hidden, shown)
    .trim();
}

/** A name in a frame's header: one word without the header's own delimiters. */
export function token(name: string): string {
  return name.replace(/[^\p{L}\p{M}\p{N}._#@:+-]+/gu, '_');
}

/** A message's body as in a prompt: every line of it has the prefix, however it is broken. */
export function renderBody(body: string): string {
  return visibleLines(body)
    .map((line) => `| ${line}`)
    .join('\n');
}

/** The size of a rendered body in a prompt, its last line feed included. */
export function renderedBodyBytes(body: string): number {
  return Buffer.byteLength(renderBody(body)) + 1;
}

/** The longest beginning of `body` that takes no more than `maxBytes` when rendered, cut between two code points. */
export function cutBody(body: string, maxBytes: number): string {
  // Rendering never shortens a body, so one that is too long as it is need not be rendered.
  if (Buffer.byteLength(body) <= maxBytes && renderedBodyBytes(body) <= maxBytes) return body;
  let bytes = frameBytes;
  let end = 0;
  for (const [piece] of body.matchAll(unit)) {
    bytes += pieceBytes(piece);
    if (bytes > maxBytes) break;
    end += piece.length;
  }
  return body.slice(0, end);
}

/** The rendered size of an empty body. */
const frameBytes = renderedBodyBytes('');

function pieceBytes(piece: string): number {
  const isPlain = piece >= ' ' && piece <= '~';
  return isPlain ? 1 : renderedBodyBytes(piece) - frameBytes;
}

function shown(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
