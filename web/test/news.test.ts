import { afterEach, expect, test } from '@jest/globals';
import type { InboxItem } from '@suzumio/sdk/client';
import { joinTabs, newsIn, type Tabs } from '../src/shell/news.js';

const item = (id: string, minute: number, read = false) =>
  ({ kind: 'report', id, read, project: 'river', at: `2026-11-26T10:0${minute}:00.000Z` }) as InboxItem;
const budget = { kind: 'budget', id: ':budget', read: false, project: null } as InboxItem;
const ids = (items: readonly InboxItem[]) => items.map(({ id }) => id);

test('what waits already is no news; what comes is, once, and not what was read elsewhere', () => {
  const first = newsIn([item('a', 1), item('b', 2)], undefined);
  expect(first.news).toEqual([]);
  const second = newsIn([item('b', 2), item('c', 3), item('d', 3, true), budget], first.known);
  expect(ids(second.news)).toEqual(['c', ':budget']);
  // It was gone meanwhile.
  const third = newsIn([item('b', 2)], second.known);
  expect(newsIn([item('b', 2), item('c', 3), budget], third.known).news).toEqual([]);
});

test('what is old is no news, though it was not there before', () => {
  const { known } = newsIn([item('b', 2)], undefined);
  expect(ids(newsIn([item('a', 1), item('b', 2)], known).news)).toEqual([]);
});

const joined: Tabs[] = [];
afterEach(() => {
  for (const { leave } of joined.splice(0)) leave();
});

/** Three tabs, the first of which asks. */
function asking(isLookedAt: readonly boolean[], withinMs?: number) {
  const tabs = isLookedAt.map((is) => joinTabs('tabs of the test', () => is, withinMs));
  joined.push(...tabs);
  return tabs[0]?.areLookedAt();
}

test('one tab that is looked at is enough', async () => {
  expect(await asking([false, true, false], 600_000)).toBe(true);
});

test('where none is looked at, none answers', async () => {
  expect(await asking([false, false, false])).toBe(false);
});
