import { createContext, useContext, useEffect, useRef } from 'react';
import type { KeyName } from './key-table.js';

/** An act that the page offers now, since state and scope allow it. */
export interface OnPage {
  readonly does: string;
  /** What it will do. */
  readonly will: string | undefined;
  readonly hotkey: KeyName | undefined;
  readonly act: () => void;
}

/** What the acts of a part of the page are about, as in “Run Ada”. */
export const AboutContext = createContext('');

const shown = new Set<{ current: OnPage & { about: string } }>();

/** Has the palette offer an act while it is on the page; nothing where `act` is undefined. */
export function useOnPage(act: OnPage | undefined): void {
  const about = useContext(AboutContext);
  const latest = useRef({ does: '', will: undefined, hotkey: undefined, act: () => undefined, about } as OnPage & {
    about: string;
  });
  useEffect(() => {
    if (act !== undefined) latest.current = { ...act, about };
  });
  const isShown = act !== undefined;
  useEffect(() => {
    if (!isShown) return undefined;
    shown.add(latest);
    return () => {
      shown.delete(latest);
    };
  }, [isShown]);
}

/** The acts that the page offers, in the order in which they came. */
export function actsOnPage(): (OnPage & { about: string })[] {
  return [...shown].map(({ current }) => current);
}
