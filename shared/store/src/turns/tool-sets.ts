import { createHash } from 'node:crypto';
import type { ToolDefinition } from '@suzumio/protocol/runner';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';

// What models are told of their tools is frozen with each turn, as everything is that they are asked with: one that is run
// again by a later version asks the same. Nearly all turns are told the same, so it is kept once, and they refer to it.

/** What a model is told of its tools, and what that is found by. */
export interface ToolSet {
  hash: string;
  json: string;
}

export function toolSetOf(definitions: readonly ToolDefinition[]): ToolSet {
  const json = JSON.stringify(definitions);
  return { hash: createHash('sha256').update(json).digest('hex'), json };
}

/** Keeps what a turn's model is told of its tools. */
export function keepToolSet(tx: Tx, { hash, json }: ToolSet): void {
  tx.run('INSERT INTO tool_sets (hash, definitions_json) VALUES (:hash, :json) ON CONFLICT (hash) DO NOTHING', {
    hash,
    json,
  });
}

/** What was kept; undefined where nothing is found by this. */
export function keptToolSet(reader: SqlReader, hash: string): ToolDefinition[] | undefined {
  const row = reader.get<{ json: string }>('SELECT definitions_json AS json FROM tool_sets WHERE hash = :hash', {
    hash,
  });
  return row && (JSON.parse(row.json) as ToolDefinition[]);
}
