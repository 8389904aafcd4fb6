/** What becomes of an object of a document before what is in it is looked at. */
export type RedactObject = (object: Record<string, unknown>) => Record<string, unknown>;

/** No document of ours is deeper; what a model wrote may be. */
const maxDepth = 100;

/**
 * A JSON value in which every text was redacted. A text that is JSON itself, as the arguments of a call are, is looked
 * into. What changes nothing gives the same value.
 */
export function redactJson(
  value: unknown,
  redact: { text: (text: string) => string; object?: RedactObject },
  depth = 0,
): unknown {
  if (typeof value === 'string') return redactText(value, redact, depth);
  if (typeof value !== 'object' || value === null || depth > maxDepth) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => redactJson(item, redact, depth + 1));
    return items.some((item, index) => item !== value[index]) ? items : (value as unknown);
  }
  const object = redact.object?.(value as Record<string, unknown>) ?? (value as Record<string, unknown>);
  let changed = object !== value;
  const entries = Object.entries(object).map(([key, part]): [string, unknown] => {
    const [shownKey, shown] = [redact.text(key), redactJson(part, redact, depth + 1)];
    changed ||= shownKey !== key || shown !== part;
    return [shownKey, shown];
  });
  return changed ? Object.fromEntries(entries) : value;
}

function redactText(text: string, redact: Parameters<typeof redactJson>[1], depth: number): string {
  const inner = /^\s*[[{]/.test(text) && depth < maxDepth ? parsed(text) : undefined;
  if (inner !== undefined) {
    const shown = redactJson(inner, redact, depth + 1);
    if (shown !== inner) return JSON.stringify(shown);
  }
  return redact.text(text);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
