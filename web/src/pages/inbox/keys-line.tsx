import type { InboxItem } from '@suzumio/sdk/client';
import { Fragment, type RefObject, useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { useKeysHelp } from '../../acts/everywhere.js';
import { isEverywhere, keyTable } from '../../acts/key-table.js';
import { Key, useHeld, useKeys, useKeysSwitch } from '../../acts/keys.js';
import { itemPath } from '../../parts/places.js';
import { type InboxRow, isOf } from './rows.js';
import { placeOf, whyOf } from './words.js';

interface Where {
  /** The items as they stand below each other. */
  order: readonly InboxRow[];
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
  const at = order.findIndex((row) => isOf(row, chosen));
  const go = (to: InboxRow | undefined) => {
    if (to === undefined) return;
    moved.current = true;
    navigate(itemPath(to.item.id), { replace: chosen !== undefined });
  };
  const why = item && whyOf(item);
  const nextAt = order.findIndex(({ item: one }) => one.id === next);
  useKeys({
    down: () => go(at === -1 ? order[Math.max(0, nextAt)] : order[at + 1]),
    up: () => go(at === -1 ? order[Math.max(0, nextAt)] : order[at - 1]),
    look: item && (() => navigate(placeOf(item))),
    why: why === undefined ? undefined : () => navigate(why),
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

/** The keys of this page, all of them, and what turns them off. */
export function KeysLine() {
  const [areOn, turn] = useKeysSwitch();
  const help = useKeysHelp();
  const here = useHeld().filter((name) => !isEverywhere(name) && name !== 'enter');
  return (
    <p className="keys-line">
      {areOn ? (
        <>
          {here.map((name) => (
            <Fragment key={name}>
              <span className="keys-one">
                <Key name={name} isRead /> {keyTable[name].does.toLowerCase()}
                <span className="visually-hidden">. </span>
              </span>{' '}
            </Fragment>
          ))}
        </>
      ) : (
        'Keys of single letters are off. '
      )}
      <button type="button" className="button" onClick={help}>
        All keys <Key name="help" />
      </button>{' '}
      <button type="button" className="button" onClick={() => turn(!areOn)}>
        {areOn ? 'Turn keys off' : 'Turn keys on'}
      </button>
    </p>
  );
}
