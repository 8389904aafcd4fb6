import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { defaultStorageLimits, type StorageLimits } from '@suzumio/contract/model/storage';
import type { Configs, ConfigVersions } from './configs.js';
import type { StoreContext } from './context.js';
import type { Sql, SqlParams, SqlReader, SqlValue } from './sql.js';
import type { EventData, EventType } from '@suzumio/contract/model/event';

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

/** An event to append to the project's timeline. */
export type NewEvent = {
  [Type in EventType]: {
    type: Type;
    /** The actor: an agent, `user`, a token's name, or `system`. */
    actor: string;
    agent?: string | undefined;
    turn?: string | undefined;
  } & (Record<string, never> extends EventData[Type] ? { data?: EventData[Type] } : { data: EventData[Type] });
}[EventType];

/**
 * One transaction on a project, passed to every verb. All its changes and events are committed or rolled back together.
 */
export class Tx implements SqlReader, ConfigVersions {
  readonly nowMs: number;
  #held: NewEvent[] | undefined;

  constructor(
    private readonly sql: Sql,
    private readonly context: StoreContext,
    private readonly configs: Configs,
  ) {
    this.nowMs = context.now();
  }

  /** The newest version of the project's resolved file, as this transaction sees it. */
  get config(): ProjectConfig {
    return this.configs.newest(this);
  }

  configAt(version: number): ProjectConfig {
    return this.configs.at(this, version);
  }

  /** What may be stored here. */
  get storage(): StorageLimits {
    return this.context.storage ?? defaultStorageLimits;
  }

  newId(prefix: Parameters<StoreContext['id']>[0]): string {
    return this.context.id(prefix);
  }

  get<Row>(sql: string, params?: SqlParams): Row | undefined {
    return this.sql.get<Row>(sql, params);
  }

  all<Row>(sql: string, params?: SqlParams): Row[] {
    return this.sql.all<Row>(sql, params);
  }

  run(sql: string, params?: SqlParams): { changes: number; lastInsertRowid: number } {
    return this.sql.run(sql, params);
  }

  /** Inserts one row: the keys of `row` are its columns. */
  insert(table: string, row: Readonly<Record<string, SqlValue>>): number {
    const columns = Object.keys(row);
    return this.sql.run(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((column) => `:${column}`).join(', ')})`,
      row,
    ).lastInsertRowid;
  }

  /** Appends an event. */
  emit(event: NewEvent): void {
    if (this.#held) {
      this.#held.push(event);
      return;
    }
    this.insert('events', {
      type: event.type,
      actor: event.actor,
      agent_id: event.agent ?? null,
      turn_id: event.turn ?? null,
      data_json: JSON.stringify(event.data ?? {}),
      created_at_ms: this.nowMs,
    });
  }

  /**
   * Runs `body`, rolling its changes back if it throws, and holds its events back: a caller that records the outcome
   * can put its own event before theirs.
   */
  attempt<Result>(body: () => Result): { result: Result; events: NewEvent[] } {
    const outer = this.#held;
    const events: NewEvent[] = [];
    this.#held = events;
    this.sql.run('SAVEPOINT attempt');
    try {
      const result = body();
      this.sql.run('RELEASE attempt');
      return { result, events };
    } catch (error) {
      if (this.sql.handle.inTransaction) {
        this.sql.run('ROLLBACK TO attempt');
        this.sql.run('RELEASE attempt');
      }
      throw error;
    } finally {
      this.#held = outer;
    }
  }
}

/** A project's database, as verbs and queries use it. */
export interface Database {
  /** Reads outside transactions see the last commit. */
  readonly reader: SqlReader;
  /** Runs a verb: one transaction, answered after its commit. */
  write<Result>(verb: (tx: Tx) => Result): Promise<Result>;
}
