import type { Decision, InboxItem } from '@suzumio/sdk/client';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { isField } from '../../acts/keys.js';
import { useDecided } from '../../use-inbox.js';
import type { Settled } from './about.js';
import { inOrder } from './list.js';

/** The item that is shown, and the order in which it stood. */
interface Seen {
  readonly item: InboxItem;
  readonly order: readonly InboxItem[];
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
  const order = useMemo(() => (items ? inOrder(items) : undefined), [items]);
  const present = order?.find(({ id }) => id === chosen);
  const [seen, setSeen] = useState<Seen>();
  if (present && order && (seen?.item !== present || seen.order !== order)) setSeen({ item: present, order });
  const item = present ?? (seen?.item.id === chosen ? seen?.item : undefined);
  const isSettled = chosen !== undefined && order !== undefined && present === undefined;
  const decision = useDecisionOn(isSettled ? item : undefined);
  const next = isSettled && item && seen ? afterIt(seen, order) : order?.[0]?.id;

  const wasThere = useRef<string>(undefined);
  useEffect(() => {
    const leaves = isSettled && wasThere.current === chosen;
    wasThere.current = present?.id;
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
function afterIt({ item, order }: Seen, now: readonly InboxItem[]): string | undefined {
  const at = order.findIndex(({ id }) => id === item.id);
  const left = new Set(now.map(({ id }) => id));
  const there = ({ id }: InboxItem) => left.has(id);
  return (order.slice(at + 1).find(there) ?? order.slice(0, at).findLast(there) ?? now[0])?.id;
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
