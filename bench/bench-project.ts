import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Sql, type SqlParams } from '@suzumio/store/sqlite/sql';
import type { Stack } from '../test/support/stack.js';
import type { HttpTarget } from './http-load.js';

/** What a turn took, by its row and what its worker said of it. */
export interface MeasuredTurn {
  /** From the claim's commit to the report's. */
  wallMs: number;
  stagesMs: Record<string, number>;
}

const lookMs = 10;
const patienceMs = 120_000;

/** A project of a stack; its database is read beside the services. */
export class BenchProject {
  private readonly stack: Stack;
  private readonly name: string;
  private readonly database: Sql;

  private constructor(stack: Stack, name: string) {
    this.stack = stack;
    this.name = name;
    this.database = Sql.open(join(stack.root, 'projects', name, 'project.db'), { readonly: true });
  }

  /** A project that runs. */
  static async start(
    stack: Stack,
    name: string,
    agents: readonly string[],
    fields?: Readonly<Record<string, unknown>>,
  ): Promise<BenchProject> {
    const project = await BenchProject.make(stack, name, agents, fields);
    const { status } = await stack.api('POST', `/projects/${name}/start`);
    if (status !== 200) throw new Error(`the project was not started: ${status}`);
    return project;
  }

  /**
   * @param agents the agents of the project file, in YAML's flow style, by id
   * @param fields more of the project file, and other than the usual
   */
  static async make(
    stack: Stack,
    name: string,
    agents: readonly string[],
    fields: Readonly<Record<string, unknown>> = {},
  ): Promise<BenchProject> {
    const usual = {
      name,
      task: 'Be measured.',
      // What it costs to look for loops is measured; this one is meant to go on.
      protection: { exchanges: 1_000_000, sameMail: 1_000_000, emptyTurns: 1_000_000 },
      backend: { docker: { keep: 'never' }, runner: { mode: 'mock', script: [] } },
    };
    const file = [
      ...Object.entries({ ...usual, ...fields }).map(([key, value]) => `${key}: ${JSON.stringify(value)}`),
      'agents:',
      ...agents.map((agent) => `  ${agent}`),
      '',
    ].join('\n');
    const { status, body } = await stack.api('POST', '/projects', { file });
    if (status !== 201) throw new Error(`the project was not created: ${JSON.stringify(body)}`);
    return new BenchProject(stack, name);
  }

  /** Where mail for it is posted. */
  get messages(): HttpTarget {
    return this.target('messages');
  }

  /** Where its events of new messages are followed, from now on. */
  get events(): HttpTarget {
    return this.target('stream?types=message.created');
  }

  /** Sends a message to one of its agents, as a person does over HTTP. */
  async post(recipient: string, body: string): Promise<{ id: string }> {
    const { status, body: message } = await this.stack.api('POST', `/projects/${this.name}/messages`, {
      recipient,
      body,
    });
    if (status !== 201) throw new Error(`a message was answered ${status}`);
    return message as { id: string };
  }

  /** Waits until no mail is unread and no turn is left. */
  async idle(): Promise<void> {
    const busy = `SELECT 1 FROM inbox UNION ALL SELECT 1 FROM turns WHERE status IN ('queued', 'running') LIMIT 1`;
    const deadline = performance.now() + patienceMs;
    while (this.database.get(busy) !== undefined) {
      if (performance.now() > deadline) throw new Error(`${this.name} does not come to rest:\n${this.stack.logs()}`);
      await sleep(lookMs);
    }
  }

  /** Turns that were queued since `sinceMs` (of the wall clock), which must have gone well. */
  turnsSince(sinceMs: number): { count: number; endedMs: number } {
    const row = this.database.get<{ count: number; well: number; ended: number | null }>(
      `SELECT count(*) AS count, sum(status = 'completed') AS well, max(ended_at_ms) AS ended
       FROM turns WHERE queued_at_ms >= :since`,
      { since: sinceMs },
    );
    if (!row || row.count !== row.well) throw new Error(`turns of ${this.name} failed:\n${this.stack.logs()}`);
    return { count: row.count, endedMs: row.ended ?? sinceMs };
  }

  /** Rows of what is recorded of it. */
  rows<Row>(sql: string, params?: SqlParams): Row[] {
    return this.database.all<Row>(sql, params);
  }

  lastTurn(): MeasuredTurn {
    const row = this.database.get<{ wall: number; stats: string }>(
      `SELECT ended_at_ms - started_at_ms AS wall, stats_json AS stats FROM turn_attempts
       WHERE status = 'completed' ORDER BY started_at_ms DESC LIMIT 1`,
    );
    if (!row) throw new Error('no turn was completed');
    const { stagesMs } = JSON.parse(row.stats) as { stagesMs: Record<string, number> };
    return { wallMs: row.wall, stagesMs };
  }

  /** Ends what runs and starts nothing more. */
  async stop(): Promise<void> {
    const { status } = await this.stack.api('POST', `/projects/${this.name}/stop`, { now: true });
    if (status !== 200) throw new Error(`the project was not stopped: ${status}`);
  }

  close(): void {
    this.database.close();
  }

  /** A route of it, for who may do everything. */
  target(route: string): HttpTarget {
    const token = readFileSync(join(this.stack.root, 'admin.token'), 'utf8').trim();
    const url = `${this.stack.url}/api/projects/${this.name}/${route}`;
    return { url, headers: { authorization: `Bearer ${token}` } };
  }
}
