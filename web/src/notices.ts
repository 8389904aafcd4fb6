import { useSyncExternalStore } from 'react';
import { publicPath } from './api.js';

/** Where this browser keeps that its user wants to be notified. */
const kept = `suzumio${publicPath} notices`;
const listeners = new Set<() => void>();

/** `none`: this browser shows none from pages. `refused`: its user has forbidden them for this page. */
export type Notices = 'on' | 'off' | 'refused' | 'none';

/** What of a notice is shown. */
export interface Notice {
  readonly title: string;
  readonly body: string;
  /** Of two with the same one, the later stands in the place of the other. */
  readonly tag: string;
  readonly onClick: () => void;
}

let failed = false;

/** Whether the browser notifies of new items, in all its tabs. */
export function useNotices(): Notices {
  return useSyncExternalStore(listen, state);
}

/** Asks the browser's user, who has to have clicked for it. What it shows first tells whether it does. */
export async function turnNoticesOn(): Promise<void> {
  const answer = await Notification.requestPermission();
  keep(answer === 'granted' ? 'on' : undefined);
  if (answer !== 'granted') return;
  const title = 'Notifications are on';
  if (
    !notify({ title, body: 'New items in your inbox are shown like this.', tag: 'suzumio', onClick: () => undefined })
  ) {
    failed = true;
    keep(undefined);
  }
}

export function turnNoticesOff(): void {
  keep(undefined);
}

/** Shows a notice. @returns whether the browser does: some do not for pages */
export function notify({ title, body, tag, onClick }: Notice): boolean {
  try {
    const shown = new Notification(title, { body, tag });
    shown.onclick = () => {
      shown.close();
      window.focus();
      onClick();
    };
    return true;
  } catch {
    return false;
  }
}

function state(): Notices {
  if (!('Notification' in window) || failed) return 'none';
  if (Notification.permission === 'denied') return 'refused';
  return Notification.permission === 'granted' && read() === 'on' ? 'on' : 'off';
}

function read(): string | null {
  try {
    return localStorage.getItem(kept);
  } catch {
    return null;
  }
}

function keep(value: 'on' | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(kept);
    else localStorage.setItem(kept, value);
  } catch {
    // The browser keeps nothing: there are none.
  }
  for (const changed of listeners) changed();
}

function listen(changed: () => void): () => void {
  listeners.add(changed);
  // Another tab may have turned them on or off.
  addEventListener('storage', changed);
  return () => {
    listeners.delete(changed);
    removeEventListener('storage', changed);
  };
}
