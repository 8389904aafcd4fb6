/** `@import(path)` as a whole value; parentheses in the path are balanced, so that `@import(a) or (b)` is plain text. */
const marker = /^(@+)import\(((?:[^()\n]|\([^()\n]*\))*)\)$/;

/** The path of a value that is nothing but `@import(path)`. */
export function importPathOf(value: string): string | undefined {
  const match = marker.exec(value);
  return match?.[1] === '@' ? match[2]?.trim() : undefined;
}

/** Whether a value is an import or an escaped one, as YAML must accept it without quotes. */
export function isImportMarker(value: string): boolean {
  return marker.test(value);
}

/** Takes the escape off a value such as `@@import(path)`, which stands for the text `@import(path)`. */
export function unescapeImport(value: string): string {
  return value.startsWith('@@') && marker.test(value) ? value.slice(1) : value;
}

/** Writes a text so that it is not taken for an import. */
export function escapeImport(value: string): string {
  return marker.test(value) ? `@${value}` : value;
}
