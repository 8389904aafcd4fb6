import { type ReactElement, useEffect, useRef, useSyncExternalStore } from 'react';
import { publicPath } from '../api.js';
import { isWithCtrl, keyNames, keyOf, keyTable, type KeyName, signsOf } from './key-table.js';

/** What keys do on a page, by their names in the table; nothing where state or scope do not allow it. */
type Pressed = Readonly<Partial<Record<KeyName, (() => void) | undefined>>>;

/** Where this browser keeps that its user wants none. */
const kept = `suzumio${publicPath} keys`;
/** The second of two signs has to follow the first so soon. */
const secondMs = 1_500;

const listeners = new Set<() => void>();
let areOn = readKept() !== 'off';
/** What keys do now. Of two parts of a page that give the same one, the first is asked. */
const given = new Set<{ current: Pressed }>();
let held: readonly KeyName[] = [];
let first = { sign: '', atMs: 0 };

const names = new Map<string, KeyName>(
  keyNames.filter((name) => keyOf(name).isLocal !== true).map((name) => [keyTable[name].press, name]),
);
const firsts = new Set([...names.keys()].filter((press) => press.includes(' ')).map((press) => press.split(' ')[0]));

/**
 * Has keys do something while a part of the page is shown. Single keys do, unless they write text or were turned off: speech
 * input may say them by mistake.
 */
export function useKeys(pressed: Pressed): void {
  const latest = useRef(pressed);
  useEffect(() => {
    latest.current = pressed;
    noteHeld();
  });
  useEffect(() => {
    if (given.size === 0) addEventListener('keydown', press);
    given.add(latest);
    noteHeld();
    return () => {
      given.delete(latest);
      if (given.size === 0) removeEventListener('keydown', press);
      noteHeld();
    };
  }, []);
}

/** Keys of a page that is a list: J and K move the focus through its rows, `/` leads to what filters them. */
export function useListKeys({ rows, filter }: { rows?: string; filter?: string }): void {
  const content = () => document.getElementById('content');
  const go = (by: 1 | -1) => () => {
    const all = [...(content()?.querySelectorAll<HTMLElement>(rows ?? '') ?? [])].filter((row) =>
      row.checkVisibility(),
    );
    const focused = all.findIndex((row) => row.contains(document.activeElement));
    const at = focused === -1 ? all.findIndex((row) => row.ariaCurrent !== null) : focused;
    (at === -1 ? all[0] : all[at + by])?.focus();
  };
  useKeys({
    ...(rows === undefined ? {} : { down: go(1), up: go(-1) }),
    ...(filter === undefined ? {} : { filter: () => content()?.querySelector<HTMLElement>(filter)?.focus() }),
  });
}

/** For a key that a field hears by itself: it is only said that it holds. */
export const heardByItself = (): void => undefined;

/** The keys that do something on the page as it is. */
export function useHeld(): readonly KeyName[] {
  return useSyncExternalStore(listen, () => held);
}

/** Does what a key does now. */
export function pressKey(name: KeyName): void {
  actOf(name)?.();
}

/** Whether keys do something, and what changes that. */
export function useKeysSwitch(): [areOn: boolean, turn: (on: boolean) => void] {
  const on = useSyncExternalStore(listen, () => areOn);
  return [on, turn];
}

/** A key that does the same as the button that it stands on; nothing where keys are turned off. */
export function Key({ name }: { name: KeyName }): ReactElement | null {
  const [on] = useKeysSwitch();
  return on || isWithCtrl(name) ? <kbd aria-hidden>{signsOf(name, isMac).join(' ').replace('Enter', '↵')}</kbd> : null;
}

export const isMac = /^Mac/.test(navigator.platform);

/** Whether something that is typed there is text. */
export function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest('input, textarea, select, dialog, [role=dialog]') !== null)
  );
}

function press(event: KeyboardEvent): void {
  if (event.repeat || event.defaultPrevented || event.isComposing || isOut()) return;
  const sign = signOf(event);
  if (sign === undefined) return;
  const before = performance.now() - first.atMs < secondMs ? first.sign : '';
  first = { sign: '', atMs: 0 };
  // The editor is in a tree of its own, and the event tells of its outside alone.
  if (!sign.startsWith('Ctrl+') && (!areOn || isField(event.composedPath()[0] ?? null))) return;
  const name = names.get(before === '' ? sign : `${before} ${sign}`) ?? names.get(sign);
  const act = name && actOf(name);
  if (act !== undefined) {
    event.preventDefault();
    act();
  } else if (firsts.has(sign)) {
    first = { sign, atMs: performance.now() };
  }
}

/** What is pressed, as the table writes it; nothing where that is no sign. Of other scripts the place of a key counts. */
function signOf({ key, code, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): string | undefined {
  if (key.length !== 1 || altKey) return undefined;
  const sign = /^[!-~]$/.test(key) ? key.toUpperCase() : /^Key([A-Z])$/.exec(code)?.[1];
  if (!(ctrlKey || metaKey)) return sign;
  return shiftKey || sign === undefined ? undefined : `Ctrl+${sign}`;
}

function actOf(name: KeyName): (() => void) | undefined {
  for (const { current } of given) {
    const act = current[name];
    if (act !== undefined) return act;
  }
  return undefined;
}

function noteHeld(): void {
  const isHeld = (name: KeyName) => actOf(name === 'enter' ? 'down' : name) !== undefined;
  const now = keyNames.filter(isHeld);
  if (now.join() === held.join()) return;
  held = now;
  tell();
}

/** Whether the page waits for somebody to sign in. */
function isOut(): boolean {
  return document.getElementById('content')?.closest('[inert]') != null;
}

function turn(on: boolean): void {
  areOn = on;
  try {
    if (on) localStorage.removeItem(kept);
    else localStorage.setItem(kept, 'off');
  } catch {
    // The browser keeps nothing: it holds for this page.
  }
  tell();
}

function readKept(): string | null {
  try {
    return localStorage.getItem(kept);
  } catch {
    return null;
  }
}

function listen(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

function tell(): void {
  for (const changed of listeners) changed();
}
