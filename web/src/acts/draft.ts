import { useCallback, useState, useSyncExternalStore } from 'react';
import { publicPath } from '../api.js';
import { useWho } from '../who.js';

/** What is kept at the most, in characters: of one draft, of all, and how many. The oldest go first. */
const most = { one: 400_000, all: 1_500_000, number: 40 };
const prefix = `suzumio${publicPath} draft `;
const restMs = 250;

/** What is being written, by key: `undefined` where nothing is. */
const held = new Map<string, unknown>();
const unkept = new Set<string>();
const listeners = new Set<() => void>();
let resting: ReturnType<typeof setTimeout> | undefined;

/**
 * What somebody is writing in a place, kept in this browser until it is sent: it survives another page, a reload, signing
 * in anew and a lost connection. Other tabs have the same. Somebody else who signs in here has drafts of their own.
 *
 * A browser that keeps nothing, or has no room, keeps it as long as the page.
 *
 * @param place says what is written, with its project: `mail newsroom`
 * @param empty plain data: the draft where nothing is written. Fields that a kept draft lacks, or has otherwise, are from it
 * @returns the draft; what changes it, by a value or from the one before; and what forgets it, when it is sent
 */
export function useDraft<Value>(place: string, empty: Value) {
  const { name } = useWho();
  const [none] = useState(empty);
  const key = `${prefix}${name} ${place}`;
  const value = useSyncExternalStore(listen, () => read(key, none));
  const change = useCallback(
    (next: Value | ((before: Value) => Value)) =>
      write(key, none, typeof next === 'function' ? (next as (before: Value) => Value)(read(key, none)) : next),
    [key, none],
  );
  const forget = useCallback(() => write(key, none, none), [key, none]);
  return [value, change, forget] as const;
}

function read<Value>(key: string, empty: Value): Value {
  if (!held.has(key)) held.set(key, fitted(kept(key), empty));
  return (held.get(key) as Value | undefined) ?? empty;
}

function write<Value>(key: string, empty: Value, value: Value): void {
  held.set(key, JSON.stringify(value) === JSON.stringify(empty) ? undefined : value);
  unkept.add(key);
  // A sent draft is gone at once: it is not to be sent again.
  if (held.get(key) === undefined) keep();
  else resting ??= setTimeout(keep, restMs);
  tell();
}

function listen(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

function tell(): void {
  for (const changed of listeners) changed();
}

/** What is kept, as what it is now: an older page may have kept something else. */
function fitted(value: unknown, empty: unknown): unknown {
  if (!isAlike(value, empty)) return undefined;
  if (!isRecord(empty) || !isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(empty).map(([name, none]) => [name, isAlike(value[name], none) ? value[name] : none]),
  );
}

function isAlike(one: unknown, other: unknown): boolean {
  return typeof one === typeof other && Array.isArray(one) === Array.isArray(other) && one !== null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The storage, or nothing where it is forbidden. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

function kept(key: string): unknown {
  try {
    const text = storage()?.getItem(key) ?? '';
    return JSON.parse(text.slice(text.indexOf(' ') + 1));
  } catch {
    return undefined;
  }
}

/** Keeps what has changed. */
function keep(): void {
  clearTimeout(resting);
  resting = undefined;
  const store = storage();
  for (const key of unkept) {
    unkept.delete(key);
    const value = held.get(key);
    try {
      if (value === undefined) store?.removeItem(key);
      else if (store) put(store, key, JSON.stringify(value));
    } catch {
      // It is full: the page itself has the draft.
    }
  }
}

/** The time stands first, so that no long draft has to be parsed to tell how old it is. */
function put(store: Storage, key: string, text: string): void {
  if (text.length > most.one) return;
  const others = Object.keys(store)
    .filter((other) => other.startsWith(prefix) && other !== key)
    .map((other) => {
      const kept = store.getItem(other) ?? '';
      return { other, at: Number.parseInt(kept, 10) || 0, length: kept.length };
    })
    .sort((one, other) => other.at - one.at);
  let left = most.all - text.length;
  for (const [at, { other, length }] of others.entries()) {
    left -= length;
    if (at >= most.number - 1 || left < 0) store.removeItem(other);
  }
  store.setItem(key, `${Date.now()} ${text}`);
}

addEventListener('pagehide', keep);
addEventListener('storage', ({ key }) => {
  if (key === null || !key.startsWith(prefix) || unkept.has(key)) return;
  held.delete(key);
  tell();
});
