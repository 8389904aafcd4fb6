import type { InboxItem } from '@suzumio/sdk/client';
import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { publicPath } from '../api.js';
import { notify, useNotices } from '../notices.js';
import { wordsFor } from '../pages/inbox/words.js';
import { itemPath } from '../parts/places.js';
import { visible } from '../parts/visible.js';
import { useNews } from '../use-inbox.js';
import { joinTabs, type Known, newsIn, type Tabs } from './news.js';

/** So many new items are told one by one; of more, only how many they are. */
const mostAtOnce = 3;

/**
 * Notifies of what is new in the inbox, where that is wanted and no tab is looked at. What agents wrote is not told: who, and in
 * which project.
 *
 * @param leads whether this tab is the one of its browser that does
 */
export function useNewItems(leads: boolean): void {
  const [, navigate] = useLocation();
  const isWanted = useNotices() === 'on';
  const isOn = isWanted && leads;
  const items = useNews(isOn).data?.items;
  const known = useRef<Known>(undefined);
  const tabs = useRef<Tabs>(undefined);
  useEffect(() => {
    if (!isWanted) return undefined;
    const joined = joinTabs(`suzumio${publicPath} looks`, () => document.hasFocus());
    tabs.current = joined;
    return () => {
      tabs.current = undefined;
      joined.leave();
    };
  }, [isWanted]);
  useEffect(() => {
    if (!isOn) known.current = undefined;
  }, [isOn]);
  useEffect(() => {
    if (!isOn || items === undefined) return;
    const { known: now, news } = newsIn(items, known.current);
    known.current = now;
    if (news.length === 0) return;
    tabs.current
      ?.areLookedAt()
      .then((are) => {
        if (!are) tellOf(news, navigate);
      })
      .catch(() => undefined);
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
