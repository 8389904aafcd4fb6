import type { InboxItem } from '@suzumio/sdk/client';
import { type RefObject, useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { useKeys, useKeysSwitch } from '../../acts/keys.js';
import { itemPath } from './list.js';
import { placeOf } from './words.js';

interface Where {
  /** The items as they stand below each other. */
  order: readonly InboxItem[];
  item: InboxItem | undefined;
  chosen: string | undefined;
  list: RefObject<HTMLElement | null>;
  /** Where the chosen one is settled, the one that comes next. */
  next: string | undefined;
}

/** J and K move through the items, and O opens the page of the one that is shown. */
export function useInboxKeys({ order, item, chosen, list, next }: Where): void {
  const [, navigate] = useLocation();
  const moved = useRef(false);
  const at = order.findIndex(({ id }) => id === chosen);
  const go = (to: InboxItem | undefined) => {
    if (to === undefined) return;
    moved.current = true;
    navigate(itemPath(to.id), { replace: chosen !== undefined });
  };
  const nextAt = order.findIndex(({ id }) => id === next);
  useKeys({
    j: () => go(at === -1 ? order[Math.max(0, nextAt)] : order[at + 1]),
    k: () => go(at === -1 ? order[Math.max(0, nextAt)] : order[at - 1]),
    o: item && (() => navigate(placeOf(item))),
  });
  useEffect(() => {
    if (!moved.current) return;
    moved.current = false;
    const row = list.current?.querySelector<HTMLElement>('[aria-current]');
    // On a phone the list is not there.
    const shown =
      row?.checkVisibility() === true ? row : list.current?.parentElement?.querySelector<HTMLElement>('.inbox-item');
    shown?.focus({ preventScroll: shown !== row });
  }, [chosen, list]);
}

/** The keys of this page, and what turns them off. */
export function KeysLine() {
  const [areOn, turn] = useKeysSwitch();
  return (
    <p className="keys-line">
      {areOn ? (
        <>
          <kbd>J</kbd> <kbd>K</kbd> move, <kbd>O</kbd> open, <kbd>A</kbd> approve, <kbd>C</kbd> request changes,{' '}
          <kbd>R</kbd> retry, <kbd>Z</kbd> take back{' '}
        </>
      ) : (
        'Keys of single letters are off. '
      )}
      <button type="button" className="button" onClick={() => turn(!areOn)}>
        {areOn ? 'Turn keys off' : 'Turn keys on'}
      </button>
    </p>
  );
}
