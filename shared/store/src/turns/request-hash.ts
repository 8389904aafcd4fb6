import { createHash } from 'node:crypto';

/** What is asked at a step, as the journal remembers it: the same question has the same hash. */
export function requestHash(kind: string, asked: unknown): string {
  return createHash('sha256')
    .update(canonicalJson([kind, asked]))
    .digest('hex');
}

/** JSON with sorted keys: the same value is the same text. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
