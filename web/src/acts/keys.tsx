import { type ReactElement, useEffect, useLayoutEffect, useRef, useSyncExternalStore } from 'react';
import { publicPath } from '../api.js';
import { isWithCtrl, keyNames, type KeyName, signsOf } from './key-table.js';
import { isCtrl, isFirst, nameOf, signOf } from './press.js';

/** What keys do on a page, by their names in the table; nothing where state or scope do not allow it. */
type Pressed = Readonly<Partial<Record<KeyName, (() => void) | undefined>>>;

/** Where this browser keeps that its user wants none. */
const kept = `suzumio${publicPath} keys`;

const listeners = new Set<() => void>();
let areOn = readKept() !== 'off';
/** What keys do now. Of two parts of a page that give the same one, the last is asked: what is inside comes after its frame. */
const given = new Set<{ current: Pressed }>();
let held: readonly KeyName[] = [];
/** The first of two signs, while the second is awaited. */
let first = '';

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
  // From the moment in which the part is drawn: a key may be pressed in the next one.
  useLayoutEffect(() => {
    if (given.size === 0) addEventListener('keydown', press);
    given.add(latest);
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

/**
 * A key that does the same as the button that it stands on; nothing where keys are turned off.
 *
 * @param isRead whether it is read out: a button tells its key by itself
 */
export function Key({ name, isRead = false }: { name: KeyName; isRead?: boolean }): ReactElement | null {
  const [on] = useKeysSwitch();
  if (!on && !isWithCtrl(name)) return null;
  const signs = signsOf(name, isMac).join(' ');
  return isRead ? (
    <kbd translate="no">{signs}</kbd>
  ) : (
    <kbd translate="no" aria-hidden>
      {signs.replace('Enter', '↵')}
    </kbd>
  );
}

export const isMac = /^Mac/.test(navigator.platform);

/** Whether something that is typed there is text. What was closed this moment has the focus until the next frame is drawn. */
export function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.checkVisibility() &&
    (target.isContentEditable || target.closest('input, textarea, select, dialog, [role=dialog]') !== null)
  );
}

function press(event: KeyboardEvent): void {
  if (event.repeat || event.defaultPrevented || event.isComposing || isOut()) return;
  if (event.key === 'Escape') first = '';
  const sign = signOf(event, isMac);
  if (sign === undefined) return;
  const before = first;
  first = '';
  // The editor is in a tree of its own, and the event tells of its outside alone.
  if (!isCtrl(sign) && (!areOn || isField(event.composedPath()[0] ?? null))) return;
  const name = nameOf(before, sign);
  const act = name && actOf(name);
  if (act !== undefined) {
    event.preventDefault();
    act();
  } else if (isFirst(sign)) {
    first = sign;
  }
}

function actOf(name: KeyName): (() => void) | undefined {
  return [...given].findLast(({ current }) => current[name] !== undefined)?.current[name];
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
