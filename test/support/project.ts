import { join } from 'node:path';
import { Sql } from '../../shared/store/src/sqlite/sql.js';

/** A project's database, read beside the services that write it. */
export function openProject(root: string, project: string): Sql {
  return Sql.open(join(root, 'projects', project, 'project.db'), { readonly: true });
}

/** What must hold of a project's database at every moment; empty when it does. */
export function brokenInvariants(project: Sql): string[] {
  const rules: Record<string, string> = {
    'the file is sound': `SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
    'every reference leads somewhere': 'SELECT * FROM pragma_foreign_key_check',
    'an agent has at most one active turn': `SELECT agent_id FROM turns WHERE status IN ('queued', 'running')
      GROUP BY agent_id HAVING count(*) > 1`,
    'an active turn belongs to a running agent': `SELECT t.id FROM turns t LEFT JOIN agents a ON a.active_turn_id = t.id
      WHERE t.status IN ('queued', 'running') AND a.id IS NULL`,
    'a turn has at most one running attempt': `SELECT turn_id FROM turn_attempts WHERE status = 'running'
      GROUP BY turn_id HAVING count(*) > 1`,
    'addressed mail is unread or read, never both or neither': `SELECT m.id, a.id FROM messages m JOIN agents a
      ON a.id = m.recipient OR (m.channel IS NOT NULL AND a.id <> m.sender AND EXISTS (
        SELECT 1 FROM channel_members c WHERE c.channel = m.channel AND c.agent_id = a.id))
      WHERE (SELECT count(*) FROM inbox i WHERE i.recipient = a.id AND i.message_seq = m.seq)
        + (SELECT count(*) FROM message_reads r WHERE r.recipient = a.id AND r.message_id = m.id AND r.voided_at_ms IS NULL) <> 1`,
  };
  return Object.entries(rules)
    .filter(([, sql]) => project.all(sql).length > 0)
    .map(([rule]) => rule);
}
