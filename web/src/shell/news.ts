import type { InboxItem } from '@suzumio/sdk/client';

/** So many items are remembered. */
const mostKnown = 2_000;
/** How long another tab has to say that it is looked at. */
const answerMs = 250;

/** What was in the inbox. */
export interface Known {
  readonly ids: ReadonlySet<string>;
  /** When the newest of it came as it was read for the first time, by the server's clock. */
  readonly sinceMs: number;
}

/** What came to the inbox after it was read for the first time, and was not there in between. */
export function newsIn(items: readonly InboxItem[], known: Known | undefined): { known: Known; news: InboxItem[] } {
  const ids = new Set([...items.map(({ id }) => id), ...(known?.ids ?? [])].slice(0, mostKnown));
  // What waited already is no news.
  if (known === undefined) return { known: { ids, sinceMs: Math.max(...items.map(cameMs), 0) }, news: [] };
  const { sinceMs } = known;
  // Something old comes back where a project can be read again, or newer mail is gone.
  const news = items.filter((item) => !item.read && !known.ids.has(item.id) && (cameMs(item) || sinceMs) >= sinceMs);
  return { known: { ids, sinceMs }, news };
}

/** When it came; 0 where that is not told, as of budgets. */
function cameMs(item: InboxItem): number {
  return 'at' in item ? Date.parse(item.at) : 0;
}

/** The tabs of a browser, each of which knows by itself alone whether it is looked at. */
export interface Tabs {
  /** Whether this tab or another one is looked at now. */
  areLookedAt: () => Promise<boolean>;
  leave: () => void;
}

/**
 * Joins the tabs of this browser.
 *
 * @param isLookedAt whether this one is
 * @param withinMs the time that the others have for an answer
 */
export function joinTabs(name: string, isLookedAt: () => boolean, withinMs = answerMs): Tabs {
  const channel = new BroadcastChannel(name);
  let heard = (): void => undefined;
  channel.onmessage = ({ data }: { data: unknown }) => {
    if (data === 'yes') heard();
    else if (isLookedAt()) channel.postMessage('yes');
  };
  return {
    areLookedAt: () =>
      new Promise((resolve) => {
        if (isLookedAt()) {
          resolve(true);
          return;
        }
        const timer = setTimeout(() => resolve(false), withinMs);
        heard = () => {
          clearTimeout(timer);
          resolve(true);
        };
        channel.postMessage('who');
      }),
    leave: () => channel.close(),
  };
}
