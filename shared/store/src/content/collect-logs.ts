import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { inBlocks } from '@suzumio/protocol/disk-blocks';
import { addStoredBytes } from './charged-content.js';
import type { Database } from '../sqlite/tx.js';
import { parseLogName } from './turn-logs.js';

/** How many logs of an agent's attempts are kept, newest first. */
export const keptLogs = 100;

interface Log {
  path: string;
  agent: string;
  turnNumber: number;
  attempt: number;
  sizeBytes: number;
}

/**
 * Removes the logs of older attempts and partial files, and sets what each agent is charged for logs.
 *
 * @param beforeMs partial files older than this are abandoned
 */
export async function collectLogs(store: Database, projectDir: string, beforeMs: number): Promise<void> {
  const sizes = new Map<string, number>();
  for (const logs of (await logsByAgent(store, projectDir, beforeMs)).values()) {
    logs.sort((a, b) => b.turnNumber - a.turnNumber || b.attempt - a.attempt);
    for (const { path } of logs.splice(keptLogs)) await unlink(path);
    for (const { agent, sizeBytes } of logs) sizes.set(agent, (sizes.get(agent) ?? 0) + inBlocks(sizeBytes));
  }
  await chargeLogs(store, sizes);
}

async function logsByAgent(
  { reader }: Pick<Database, 'reader'>,
  projectDir: string,
  beforeMs: number,
): Promise<Map<string, Log[]>> {
  const byAgent = new Map<string, Log[]>();
  const directory = join(projectDir, 'logs');
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name);
    const facts = await stat(path).catch(() => undefined);
    const { turn, attempt } = parseLogName(name) ?? {};
    if (turn === undefined || attempt === undefined) {
      if (facts?.isFile() && facts.mtimeMs < beforeMs) await unlink(path);
      continue;
    }
    const row = reader.get<{ agent_id: string; number: number }>(
      'SELECT agent_id, number FROM turns WHERE id = :turn',
      { turn },
    );
    if (!row || !facts) continue;
    const log = { path, agent: row.agent_id, turnNumber: row.number, attempt, sizeBytes: facts.size };
    const others = byAgent.get(row.agent_id);
    if (others) others.push(log);
    else byAgent.set(row.agent_id, [log]);
  }
  return byAgent;
}

/** Sets each agent's charge for logs to their actual size. */
async function chargeLogs(store: Database, sizes: ReadonlyMap<string, number>): Promise<void> {
  const charged = new Map(
    store.reader
      .all<{ owner: string; bytes: number }>(
        `SELECT owner, bytes FROM stored_bytes WHERE kind = 'logs' AND owner <> ''`,
      )
      .map(({ owner, bytes }) => [owner, bytes]),
  );
  const owners = new Set([...sizes.keys(), ...charged.keys()]);
  const wrong = [...owners].filter((owner) => (sizes.get(owner) ?? 0) !== (charged.get(owner) ?? 0));
  if (wrong.length === 0) return;
  await store.write((tx) => {
    for (const owner of wrong) {
      addStoredBytes(tx, owner, 'logs', (sizes.get(owner) ?? 0) - (charged.get(owner) ?? 0));
    }
  });
}
