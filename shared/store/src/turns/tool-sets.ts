import { createHash } from 'node:crypto';
import type { ToolDefinition } from '@suzumio/protocol/runner';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';

// Tool definitions are frozen with each turn, as everything else that its model is given, so that a later version that
// resumes the turn gives the same. Nearly all turns have the same definitions, so they are stored once and referred to
// by hash.

/** The tool definitions of a model, and their hash. */
export interface ToolSet {
  hash: string;
  json: string;
}

export function toolSetOf(definitions: readonly ToolDefinition[]): ToolSet {
  const json = JSON.stringify(definitions);
  return { hash: createHash('sha256').update(json).digest('hex'), json };
}

/** Stores the tool definitions of a turn's model. */
export function keepToolSet(tx: Tx, { hash, json }: ToolSet): void {
  tx.run('INSERT INTO tool_sets (hash, definitions_json) VALUES (:hash, :json) ON CONFLICT (hash) DO NOTHING', {
    hash,
    json,
  });
}

/** The stored definitions of a hash; undefined where there are none. */
export function keptToolSet(reader: SqlReader, hash: string): ToolDefinition[] | undefined {
  const row = reader.get<{ json: string }>('SELECT definitions_json AS json FROM tool_sets WHERE hash = :hash', {
    hash,
  });
  return row && (JSON.parse(row.json) as ToolDefinition[]);
}
