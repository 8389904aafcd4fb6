import type { InboxItem } from '@suzumio/sdk/client';
import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { notify, useNotices } from '../notices.js';
import { wordsFor } from '../pages/inbox/words.js';
import { itemPath } from '../parts/places.js';
import { visible } from '../parts/visible.js';
import { useInbox } from '../use-inbox.js';

/** So many new items are told one by one; of more, only how many they are. */
const mostAtOnce = 3;

/**
 * Notifies of what is new in the inbox, where that is wanted. What agents wrote is not told: who, and in which project.
 *
 * @param leads whether this tab is the one of its browser that does
 */
export function useNewItems(leads: boolean): void {
  const [, navigate] = useLocation();
  const isOn = useNotices() === 'on' && leads;
  const items = useInbox(isOn).data?.items;
  const known = useRef<ReadonlySet<string>>(undefined);
  useEffect(() => {
    if (!isOn || items === undefined) {
      known.current = undefined;
      return;
    }
    const before = known.current;
    known.current = new Set(items.map(({ id }) => id));
    // What waited already is no news, nor what is looked at.
    if (before === undefined || document.hasFocus()) return;
    tellOf(
      items.filter(({ id, read }) => !read && !before.has(id)),
      navigate,
    );
  }, [isOn, items, navigate]);
}

function tellOf(items: readonly InboxItem[], navigate: (path: string) => void): void {
  if (items.length > mostAtOnce) {
    const title = `${items.length} new items in the inbox`;
    notify({ title, body: '', tag: 'suzumio many', onClick: () => navigate('/') });
    return;
  }
  for (const item of items) {
    notify({
      title: visible(wordsFor(item).title),
      body: item.project ?? 'All projects',
      tag: `suzumio ${item.id}`,
      onClick: () => navigate(itemPath(item.id)),
    });
  }
}
