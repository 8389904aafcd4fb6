/** How many known names are compared. */
const mostKnown = 200;

/** How many known names a message has. */
const mostNamed = 20;

/** The most similar known name; `undefined` where none is close. */
export function suggest(given: string, known: readonly string[]): string | undefined {
  const lower = given.slice(0, 100).toLowerCase();
  let best: { name: string; distance: number } | undefined;
  for (const name of known.slice(0, mostKnown)) {
    const farthest = Math.max(1, Math.floor(name.length / 3));
    if (Math.abs(name.length - lower.length) > farthest) continue;
    const distance = editDistance(lower, name.toLowerCase());
    if (distance <= farthest && distance < (best?.distance ?? Infinity)) {
      best = { name, distance };
    }
  }
  return best?.name;
}

/** The end of a message about an unknown name: the most similar name, or the known ones. */
export function hintFrom(name: string, known: readonly string[]): string {
  const meant = suggest(name, known);
  if (meant !== undefined) return `: did you mean ${meant}?`;
  const names = [...new Set(known)];
  if (names.length === 0) return ': there are none';
  const more = names.length > mostNamed ? ` and ${String(names.length - mostNamed)} more` : '';
  return `: known are ${names.slice(0, mostNamed).join(', ')}${more}`;
}

/** The number of letters to insert, drop, replace or swap with their neighbour to turn one word into the other. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let distance = Math.min(replace, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        distance = Math.min(distance, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(distance);
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
