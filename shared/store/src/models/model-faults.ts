import type { ModelFault } from '@suzumio/contract/model/model-fault';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { beginningOf } from '@suzumio/protocol/cut-text';
import type { Failure } from '@suzumio/protocol/failure-codes';
import { iso } from '../sqlite/page.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';

export const modelFaultsSql = `
CREATE TABLE model_faults (
  preset TEXT PRIMARY KEY,
  code TEXT NOT NULL,
  message TEXT NOT NULL,
  since_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

const maxMessageChars = 500;

/** Records that a preset has refused, for its operator: another one may have answered instead. */
export function recordModelFault(tx: Tx, preset: string, { code, message }: Pick<Failure, 'code' | 'message'>): void {
  tx.run(
    `INSERT INTO model_faults (preset, code, message, since_ms) VALUES (:preset, :code, :message, :now)
     ON CONFLICT (preset) DO UPDATE SET code = :code, message = :message`,
    { preset, code, message: beginningOf(message, maxMessageChars), now: tx.nowMs },
  );
}

/** Records that a preset has answered. */
export function clearModelFault(tx: Tx, preset: string): void {
  tx.run('DELETE FROM model_faults WHERE preset = :preset', { preset });
}

/** The presets of a project's present file that refused when they were asked last. */
export function listModelFaults(reader: SqlReader, config: ProjectConfig): ModelFault[] {
  const presets = config.backend.runner.models?.presets ?? {};
  const rows = reader.all<{ preset: string; code: ModelFault['code']; message: string; since_ms: number }>(
    'SELECT preset, code, message, since_ms FROM model_faults ORDER BY since_ms, preset',
  );
  return rows.flatMap(({ preset, code, message, since_ms: sinceMs }) =>
    Object.hasOwn(presets, preset) ? [{ preset, code, message, at: iso(sinceMs) }] : [],
  );
}
