import type { Decision, InboxItem } from '@suzumio/sdk/client';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { isField } from '../../acts/keys.js';
import { useDecided } from '../../use-inbox.js';
import type { Settled } from './about.js';
import { type InboxRow, isOf, rowsOf } from './rows.js';

/** The item that is shown, and the order in which it stood. */
interface Seen {
  readonly row: InboxRow;
  readonly order: readonly InboxRow[];
}

/**
 * What is shown of the inbox. An item that is settled stays until another is chosen, and the focus goes to the one that
 * comes next, unless it is where the item is not.
 */
export function useShown(
  items: readonly InboxItem[] | undefined,
  chosen: string | undefined,
  list: RefObject<HTMLElement | null>,
) {
  const onward = useRef<HTMLAnchorElement>(null);
  const order = useMemo(() => (items ? rowsOf(items) : undefined), [items]);
  const present = order?.find((row) => isOf(row, chosen));
  const [seen, setSeen] = useState<Seen>();
  if (present && order && (seen?.row !== present || seen.order !== order)) setSeen({ row: present, order });
  const row = present ?? (seen && isOf(seen.row, chosen) ? seen.row : undefined);
  const item = row?.item;
  const isSettled = chosen !== undefined && order !== undefined && present === undefined;
  const decision = useDecisionOn(isSettled ? item : undefined);
  const next = isSettled && item && seen ? afterIt(seen, order) : order?.[0]?.item.id;

  const wasThere = useRef<string>(undefined);
  useEffect(() => {
    const leaves = isSettled && wasThere.current === chosen;
    wasThere.current = present && chosen;
    if (!leaves || !isFree(list.current)) return;
    const row =
      next === undefined
        ? null
        : (list.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(next)}"]`) ?? null);
    // On a phone the list is not there.
    (row?.checkVisibility() === true ? row : onward.current)?.focus();
  }, [chosen, isSettled, list, next, present]);

  const settled: Settled | undefined = isSettled ? { decision, next } : undefined;
  return { item, settled, order: order ?? [], onward };
}

/** Whether the focus may be moved: it is nowhere, or at the item, and nobody writes. */
function isFree(list: HTMLElement | null): boolean {
  const { activeElement } = document;
  if (activeElement === null || activeElement === document.body) return true;
  return !isField(activeElement) && activeElement.closest('.inbox-item') !== null && list !== null;
}

/** The item that came after one which is gone, or the last one that stands before it. */
function afterIt({ row, order }: Seen, now: readonly InboxRow[]): string | undefined {
  const at = order.findIndex(({ item }) => item.id === row.item.id);
  const left = new Set(now.map(({ item }) => item.id));
  const there = ({ item }: InboxRow) => left.has(item.id);
  return (order.slice(at + 1).find(there) ?? order.slice(0, at).findLast(there) ?? now[0])?.item.id;
}

/** Who settled an item, and how: the first decision about it since it came. */
function useDecisionOn(item: InboxItem | undefined): Decision | undefined {
  const decided = useDecided().data?.pages.flatMap((page) => page.items) ?? [];
  return item && decided.findLast((decision) => isAbout(decision, item));
}

function isAbout(decision: Decision, item: InboxItem): boolean {
  if (decision.project !== item.project || ('at' in item && decision.at < item.at)) return false;
  switch (item.kind) {
    case 'report':
      return (
        (decision.kind === 'approved' || decision.kind === 'changes-requested') && decision.version === item.version
      );
    case 'failure':
      return (decision.kind === 'retried' || decision.kind === 'reset') && decision.agent === item.agent;
    case 'pause':
      return decision.kind === 'resumed' && decision.agent === item.agent;
    case 'budget':
      return decision.kind === 'budget-changed' && decision.agent === item.agent;
    case 'model':
    case 'message':
      return false;
  }
}
