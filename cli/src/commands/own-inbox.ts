import type { Decision } from '@suzumio/contract/model/inbox';
import { findReads, requireApi } from '../reach/reach.js';
import { decidedTable, ownInboxTable } from '../render/own-inbox.js';
import { sayHint, sayJson, say, type Session } from '../session.js';

export interface OwnInboxOptions {
  limit: number;
  /** What was marked as read, too. */
  all: boolean;
  /** Marks what is shown. */
  read: boolean;
}

/** The most commands that are suggested. */
const mostNext = 3;

/** Shows what waits for the person, of one project or of all. */
export async function ownInbox(
  session: Session,
  project: string | undefined,
  { limit, all, read }: OwnInboxOptions,
): Promise<undefined> {
  const query = { project, limit, unread: all ? 'false' : 'true' } as const;
  const api = read ? await requireApi(session) : undefined;
  const { items, moreWaiting, unreadable } = await (api ?? (await findReads(session))).getInbox({ query });
  if (api && items.length > 0) await api.markRead({ body: { items: items.map(({ id }) => id) } });
  sayJson(session, items);
  const where = project === undefined ? '' : ` in ${project}`;
  if (items.length === 0) say(session, all ? `Nothing waits for you${where}.` : `Nothing new waits for you${where}.`);
  else say(session, ...ownInboxTable(items, session));
  if (moreWaiting > 0) say(session, `and ${moreWaiting} more`);
  for (const broken of unreadable) say(session, `${broken} cannot be read: ${session.suzumio} verify ${broken}`);
  const next = [...new Set(items.map((item) => item.next))].slice(0, mostNext);
  const more = all || items.length > 0 ? [] : [`inbox --mine --all`];
  const mark = items.length > 0 && !read && !all ? ['inbox --mine --read'] : [];
  const page = items.length > 0 ? ['open'] : [];
  sayHint(session, ...next, ...mark, ...page, ...more);
  return undefined;
}

/** The most parts of the list that are asked for: each looks at many events. */
const mostParts = 20;
const mostOfPart = 200;

/** Shows what people have decided, of one project or of all, the newest first. */
export async function ownDecided(session: Session, project: string | undefined, limit: number): Promise<undefined> {
  const api = await findReads(session);
  const items: Decision[] = [];
  const unreadable = new Set<string>();
  let before: string | undefined;
  for (let part = 0; part < mostParts && !session.context.interrupted.aborted; part += 1) {
    const query = { project, limit: Math.min(mostOfPart, limit - items.length), before };
    const answer = await api.listDecided({ query });
    items.push(...answer.items);
    for (const broken of answer.unreadable) unreadable.add(broken);
    before = answer.previous;
    if (before === undefined || items.length >= limit) break;
  }
  sayJson(session, items);
  const where = project === undefined ? '' : ` in ${project}`;
  if (items.length > 0) say(session, ...decidedTable(items, session));
  else say(session, `Nobody has decided anything${before === undefined ? '' : ' lately'}${where}.`);
  for (const broken of unreadable) say(session, `${broken} cannot be read: ${session.suzumio} verify ${broken}`);
  const about = project ?? items[0]?.project;
  sayHint(session, ...(about === undefined ? [] : [`events ${about}`]), 'inbox --mine');
  return undefined;
}
