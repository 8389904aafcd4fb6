import { useSyncExternalStore } from 'react';

const drafts = new Map<string, unknown>();
const listeners = new Set<() => void>();

/**
 * What somebody is writing in a place, until it is sent: it survives another page.
 *
 * @returns the draft, what changes it, and what forgets it
 */
export function useDraft<Value>(place: string, empty: Value) {
  const value = useSyncExternalStore(listen, () => (drafts.get(place) as Value | undefined) ?? none(place, empty));
  return [value, (next: Value) => put(place, next), () => put(place, undefined)] as const;
}

/** The same each time, as React asks of what it compares. */
const empties = new Map<string, unknown>();
function none<Value>(place: string, empty: Value): Value {
  if (!empties.has(place)) empties.set(place, empty);
  return empties.get(place) as Value;
}

function put(place: string, value: unknown): void {
  drafts.set(place, value);
  for (const changed of listeners) changed();
}

function listen(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}
