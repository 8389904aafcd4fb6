import { useEffect, useRef, useSyncExternalStore } from 'react';
import { publicPath } from '../api.js';

/** Where this browser keeps that its user wants none. */
const kept = `suzumio${publicPath} keys`;
const listeners = new Set<() => void>();
let areOn = readKept() !== 'off';

/** Single keys do something, unless they write text or were turned off: speech input may say them by mistake. */
export function useKeys(pressed: Readonly<Record<string, (() => void) | undefined>>): void {
  const latest = useRef(pressed);
  useEffect(() => {
    latest.current = pressed;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const act = latest.current[event.key.toLowerCase()];
      if (act === undefined || !areOn || event.repeat || event.defaultPrevented) return;
      if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target) || isOut()) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

/** Whether keys do something, and what changes that. */
export function useKeysSwitch(): [areOn: boolean, turn: (on: boolean) => void] {
  const on = useSyncExternalStore(listen, () => areOn);
  return [on, turn];
}

/** A key that does the same as the button that it stands on; nothing where keys are turned off. */
export function Key({ name }: { name: string }) {
  const [on] = useKeysSwitch();
  return on ? <kbd aria-hidden>{name}</kbd> : null;
}

/** Whether something that is typed there is text. */
export function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest('input, textarea, select, dialog, [role=dialog]') !== null)
  );
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
  for (const changed of listeners) changed();
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
