import type { MailCount } from '@suzumio/contract/model/mail-count';
import { iso } from '../sqlite/page.js';
import type { SqlReader } from '../sqlite/sql.js';

/** How many messages went from whom to whom, or to which channel. A trigger counts them as they are written. */
export function mailCounts(reader: SqlReader): MailCount[] {
  return reader
    .all<{ sender: string; addressee: string; messages: number; last_at_ms: number }>(
      'SELECT sender, addressee, messages, last_at_ms FROM mail_counts ORDER BY sender, addressee',
    )
    .map(({ sender, addressee, messages, last_at_ms }) => {
      const isChannel = addressee.startsWith('#');
      return {
        sender,
        recipient: isChannel ? null : addressee,
        channel: isChannel ? addressee : null,
        messages,
        lastAt: iso(last_at_ms),
      };
    });
}
