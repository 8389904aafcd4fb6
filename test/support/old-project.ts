import { rm } from 'node:fs/promises';
import Database from 'better-sqlite3';
import { projectMigrations } from '@suzumio/store/projects/migrations';
import type { TestCell } from './cell.js';

/** How many messages make a database that is not migrated in passing. */
export const manyMessages = 20_000;

/**
 * Puts a project that was just made back into the first schema, with many messages that were read long ago. Its messages
 * have kept their order and their words. Returns its database.
 */
export async function makeOld(testing: TestCell, project: string): Promise<string> {
  const [made] = await testing.rows<{ config: string }>(project, 'SELECT config_json AS config FROM projects');
  const agents = await testing.rows<{ id: string }>(project, 'SELECT id FROM agents ORDER BY position');
  await testing.restart();
  const file = testing.cell.directory.projectFile(project);
  for (const end of ['', '-wal', '-shm']) await rm(`${file}${end}`, { force: true });
  const old = new Database(file);
  old.pragma('journal_mode = WAL');
  old.exec(projectMigrations[0]?.sql ?? '');
  old.pragma('user_version = 1');
  old
    .prepare(
      `INSERT INTO projects (id, status, task, config_json, created_at_ms, status_at_ms) VALUES (?, 'running', 'Work.', ?, 1, 1)`,
    )
    .run(project, made?.config);
  const agent = old.prepare(
    `INSERT INTO agents (id, position, base, role, prompt, tools_json, state, state_at_ms) VALUES (?, ?, ?, '', '', '["*"]', 'quiet', 1)`,
  );
  const message = old.prepare(
    `INSERT INTO messages (id, sender, recipient, priority, kind, body, thread_id, actor, created_at_ms)
     VALUES (?, 'ada', 'ben', 'P1', 'message', ?, ?, 'ada', 1)`,
  );
  old.transaction(() => {
    agents.forEach(({ id }, at) => agent.run(id, at + 1, id));
    for (let n = 1; n <= manyMessages; n += 1) {
      const id = `msg_${String(n).padStart(26, '0')}`;
      message.run(id, 'x'.repeat(300), id);
    }
  })();
  old.close();
  return file;
}

/** Keeps others from writing to a database, until it is called again. */
export function holdDatabase(file: string): () => void {
  const holder = new Database(file);
  holder.exec('BEGIN IMMEDIATE');
  return () => holder.close();
}
