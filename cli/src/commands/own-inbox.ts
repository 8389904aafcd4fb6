import { findReads, requireApi } from '../reach/reach.js';
import { ownInboxTable } from '../render/own-inbox.js';
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
  sayHint(session, ...next, ...mark, ...more);
  return undefined;
}
