/**
 * Where `text` stops being JSON: `line 3, column 7`, or that it ends too early. V8 reports the position only for some
 * errors, and quotes the text for others, which may hold secrets.
 */
export function jsonFault(text: string): string {
  if (mayGoOn(text)) return text.trim() === '' ? 'it is empty' : 'it ends too early';
  let good = 0;
  let bad = text.length;
  while (bad - good > 1) {
    const middle = good + Math.floor((bad - good) / 2);
    if (mayGoOn(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  const before = text.slice(0, good).split('\n');
  return `unexpected text at line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}

/** Whether some JSON text begins with `start`. */
function mayGoOn(start: string): boolean {
  try {
    JSON.parse(start);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const position = / at position (\d+)/.exec(message)?.[1];
    return message.startsWith('Unexpected end') || Number(position ?? -1) >= start.length;
  }
}
