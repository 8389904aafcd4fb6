import type { MaxTokensField, SystemRole } from '@suzumio/contract/model/models-config';
import type { CatalogDatabase } from '../sqlite/catalog-database.js';

/** What a model's server is sent instead of what it has refused. */
export interface Adaptation {
  streamUsage?: false;
  systemRole?: SystemRole;
  maxTokensField?: MaxTokensField;
  /** The longest answer that it grants. */
  maxAnswer?: number;
  /** Settings of lenient presets that it has refused, with their values. */
  refused?: Readonly<Record<string, unknown>>;
}

/** How long an adaptation holds: servers change. */
const maxAgeMs = 24 * 3_600_000;

/** What was learnt of models at their endpoints, by circuit. */
export class Adaptations {
  constructor(private readonly db: CatalogDatabase) {}

  read(circuit: string, nowMs: number): Adaptation | undefined {
    const row = this.db.reader.get<{ json: string }>(
      'SELECT adaptation_json AS json FROM adaptations WHERE circuit = :circuit AND learnt_at_ms > :since',
      { circuit, since: nowMs - maxAgeMs },
    );
    return row && (JSON.parse(row.json) as Adaptation);
  }

  /** Keeps what was learnt, and drops what is too old. */
  async keep(circuit: string, adaptation: Adaptation): Promise<void> {
    await this.db.write((tx) => {
      tx.run('DELETE FROM adaptations WHERE learnt_at_ms <= :before', { before: tx.nowMs - maxAgeMs });
      tx.run(
        `INSERT INTO adaptations (circuit, adaptation_json, learnt_at_ms) VALUES (:circuit, :json, :now)
         ON CONFLICT (circuit) DO UPDATE SET adaptation_json = :json, learnt_at_ms = :now`,
        { circuit, json: JSON.stringify(adaptation), now: tx.nowMs },
      );
    });
  }
}
