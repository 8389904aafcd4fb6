import { createContext, useContext, useEffect, useRef } from 'react';
import type { KeyName } from './key-table.js';

/** An act that the page offers now, since state and scope allow it. */
export interface OnPage {
  readonly does: string;
  /** What it will do. */
  readonly will: string | undefined;
  readonly hotkey: KeyName | undefined;
  readonly act: () => void;
  /** Leads to its button, beside which stands what it will do. */
  readonly show: () => void;
}

/** What the acts of a part of the page are about, as in “Run Ada”. */
export const AboutContext = createContext('');

/** An act as the palette has it. */
type Offered = Omit<OnPage, 'act' | 'show'> & { readonly about: string; readonly choose: () => void };

const shown = new Set<{ current: Offered }>();

/**
 * Has the palette offer an act while it is on the page; nothing where `act` is undefined. The palette does by itself what a key
 * does, and what asks first, as its name's “…” says; to everything else it leads.
 */
export function useOnPage(act: OnPage | undefined): void {
  const about = useContext(AboutContext);
  const latest = useRef<Offered>({ does: '', will: undefined, hotkey: undefined, choose: () => undefined, about });
  useEffect(() => {
    if (act === undefined) return;
    const { does, will, hotkey } = act;
    const choose = hotkey !== undefined || does.endsWith('…') ? act.act : act.show;
    latest.current = { does, will, hotkey, about, choose };
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
export function actsOnPage(): Offered[] {
  return [...shown].map(({ current }) => current);
}
