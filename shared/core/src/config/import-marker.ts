/** `@import(path)` as a whole value; parentheses in the path are balanced, so that `@import(a) or (b)` is plain text. */
const marker = /^(@+)import\(((?:[^()\n]|\([^()\n]*\))*)\)$/;

/** The path of a value that consists of `@import(path)`. */
export function importPathOf(value: string): string | undefined {
  const match = marker.exec(value);
  return match?.[1] === '@' ? match[2]?.trim() : undefined;
}

/** Whether a value is an import or an escaped one, which YAML must accept without quotes. */
export function isImportMarker(value: string): boolean {
  return marker.test(value);
}

/** Unescapes a value such as `@@import(path)`, which means the text `@import(path)`. */
export function unescapeImport(value: string): string {
  return value.startsWith('@@') && marker.test(value) ? value.slice(1) : value;
}

/** Escapes a text so that it is not read as an import. */
export function escapeImport(value: string): string {
  return marker.test(value) ? `@${value}` : value;
}
