// Texts are cut at lengths in UTF-16 code units, but never inside a surrogate pair, whose half strict parsers refuse.

/** The beginning of a text: at most `maxChars` of it, whole characters only. */
export function beginningOf(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return text.slice(0, isWithinCharacter(text, maxChars) ? maxChars - 1 : maxChars);
}

/** The end of a text: at most `maxChars` of it, whole characters only. */
export function endOf(text: string, maxChars: number): string {
  const at = text.length - maxChars;
  if (at <= 0) return text;
  return text.slice(isWithinCharacter(text, at) ? at + 1 : at);
}

/** Whether the two code units around a place are one character. */
function isWithinCharacter(text: string, at: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, at - 1), at + 1));
}
