import { afterEach } from '@jest/globals';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { ErrorCode } from '@suzumio/contract/errors/codes';
import type { ProjectStatus } from '@suzumio/contract/model/project-status';
import type { AgentState } from '@suzumio/contract/model/states';
import type { Failure } from '@suzumio/protocol/failure-codes';
import type { ToolResponse } from '@suzumio/protocol/runner';
import { keptInput } from '@suzumio/store/turns/kept-input';
import { listAgents } from '@suzumio/store/projects/agents';
import { type AppliedConfig, applyConfig, type NewConfig } from '@suzumio/store/projects/apply-config';
import { withVariables } from '@suzumio/store/projects/config-versions';
import { newestVersion } from '@suzumio/store/sqlite/configs';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { hashToken } from '@suzumio/store/turns/tokens';
import type { Tx } from '@suzumio/store/sqlite/tx';
import { type Claim, claimTurn } from '@suzumio/store/turns/claim-turn';
import { prepareTurn } from '@suzumio/store/turns/prepare-turn';
import { type NewMessage, postMessage } from '@suzumio/store/mail/post-message';
import { approveProject, requestChanges, submitReport } from '@suzumio/store/projects/project-transitions';
import { recordToolCall } from '@suzumio/store/turns/record-tool-call';
import type { ToolCall } from '@suzumio/store/turns/tool-call-refusal';
import { completeTurn } from '@suzumio/store/turns/complete-turn';
import { failAttempt } from '@suzumio/store/turns/fail-attempt';
import { startTurns } from '@suzumio/store/turns/start-turns';
import { type TestCell, testCell } from '../../../test/support/cell.js';

export const start = Date.UTC(2026, 10, 21, 20, 0, 0);
export const leaseMs = 15_000;

/** An attempt that is running. */
export interface Begun {
  turn: string;
  attempt: number;
}

/** A project of three agents, and what happens to it, one verb a call. The clock stands still unless it is advanced. */
export class Team {
  #nowMs = start;
  #claims = 0;

  constructor(
    readonly testing: TestCell,
    readonly project: string,
    readonly store: ProjectStore,
  ) {
    testing.setNow(start);
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    this.testing.setNow(this.#nowMs);
  }

  write<Result>(verb: (tx: Tx) => Result): Promise<Result> {
    return this.store.write(verb);
  }

  mail(recipient: string, change: Partial<NewMessage> = {}) {
    const message = { sender: 'user', recipient, priority: 'P1' as const, body: `For ${recipient}.`, actor: 'test' };
    return this.write((tx) => postMessage(tx, { ...message, ...change }));
  }

  schedule(): Promise<string[]> {
    return this.write(startTurns);
  }

  /** Claims a turn as a ToolHost does. */
  claim(turn: string, change: Partial<Claim> = {}) {
    this.#claims += 1;
    const claimId = String(this.#claims).padStart(32, '0');
    const prepared = this.#inputOf(turn) === null ? prepareTurn(this.store.reader, this.store.config, turn) : undefined;
    return this.write((tx) =>
      claimTurn(tx, { turn, claimId, worker: 'w1', engine: 'test', leaseMs, hashes, prepared, ...change }),
    );
  }

  /** Claims, and fails where that is refused. */
  async begin(turn: string, change: Partial<Claim> = {}): Promise<Begun> {
    const claimed = await this.claim(turn, change);
    if (typeof claimed === 'string') throw new Error(`the claim was ${claimed}`);
    return { turn, attempt: claimed.attempt };
  }

  /** Mail, turn and claim at once. */
  async work(agent: string): Promise<Begun> {
    await this.mail(agent);
    await this.schedule();
    const turn = this.activeTurn(agent);
    if (turn === null) throw new Error(`${agent} has no turn`);
    return this.begin(turn);
  }

  complete(of: Begun, text = 'Done.') {
    return this.write((tx) => completeTurn(tx, of, { output: { text } }));
  }

  fail(of: Begun, code: Failure['code'], message = 'It went wrong.') {
    return this.write((tx) => failAttempt(tx, of, { failure: { code, message } }));
  }

  submit(of: Begun, agent: string, promptSeq = this.#promptSeq(of.turn)) {
    return this.write((tx) => submitReport(tx, { path: 'reports/x.md', agent, turn: of.turn, promptSeq }));
  }

  approve() {
    return this.write((tx) => approveProject(tx, 'test'));
  }

  requestChanges(recipient: string, status: 'submitted' | 'completed' = 'submitted') {
    return this.write((tx) => requestChanges(tx, { recipient, body: 'Again, please.', actor: 'test', status }));
  }

  call(
    of: Begun,
    agent: string,
    change: Partial<ToolCall> = {},
    effect: (tx: Tx) => ToolResponse = () => ({ output: 'ok' }),
  ) {
    const call = {
      ...of,
      agent,
      tokenHash: hashes(of.attempt).tool,
      tool: 'messages.send',
      input: keptInput({ n: 1 }),
      requestHash: 'h1',
      ...change,
    };
    return this.write((tx) => recordToolCall(tx, call, () => effect(tx)));
  }

  get status(): ProjectStatus | undefined {
    return this.store.reader.get<{ status: ProjectStatus }>('SELECT status FROM projects')?.status;
  }

  activeTurn(agent: string): string | null {
    return (
      this.store.reader.get<{ turn: string | null }>('SELECT active_turn_id AS turn FROM agents WHERE id = :agent', {
        agent,
      })?.turn ?? null
    );
  }

  stateOf(agent: string): AgentState | undefined {
    return listAgents(this.store.reader).find(({ id }) => id === agent)?.state;
  }

  /** Applies the project's file with something changed, as the newest version. */
  change(make: (config: ProjectConfig) => ProjectConfig, more: Partial<NewConfig> = {}): Promise<AppliedConfig> {
    const { reader } = this.store;
    const base = newestVersion(reader);
    const config = make(withVariables(reader, this.store, base));
    const source = `# version ${String(base + 1)}`;
    return this.write((tx) => applyConfig(tx, { base, config, source, actor: 'test', snapshots: new Map(), ...more }));
  }

  /** Takes an agent out of the project's file. */
  retire(agent: string): Promise<AppliedConfig> {
    return this.change((config) => ({
      ...config,
      agents: Object.fromEntries(Object.entries(config.agents).filter(([id]) => id !== agent)),
      channels: config.channels.map(({ name, members }) => ({ name, members: members.filter((id) => id !== agent) })),
    }));
  }

  turn(turn: string) {
    return this.store.reader.get<{
      status: string;
      attempt: number;
      priority: string;
      not_before_ms: number;
      delivery: number;
      delivered_at_ms: number | null;
      failure_json: string | null;
      output_text: string | null;
      prompt: string | null;
      ended_by_tool: string | null;
    }>('SELECT * FROM turns WHERE id = :turn', { turn });
  }

  unread(agent: string): number {
    const sql = 'SELECT count(*) AS n FROM inbox WHERE recipient = :agent';
    return this.store.reader.get<{ n: number }>(sql, { agent })?.n ?? 0;
  }

  events(): string[] {
    return this.store.reader.all<{ type: string }>('SELECT type FROM events ORDER BY seq').map(({ type }) => type);
  }

  rows<Row>(sql: string): Row[] {
    return this.store.reader.all<Row>(sql);
  }

  #inputOf(turn: string): string | null {
    return (
      this.store.reader.get<{ input: string | null }>('SELECT input_json AS input FROM turns WHERE id = :turn', {
        turn,
      })?.input ?? null
    );
  }

  #promptSeq(turn: string): number {
    const sql = 'SELECT prompt_seq AS seq FROM turns WHERE id = :turn';
    return this.store.reader.get<{ seq: number | null }>(sql, { turn })?.seq ?? 0;
  }
}

/** The hashes of an attempt's tokens in these tests. */
export function hashes(attempt: number): { lease: string; tool: string } {
  return { lease: hashToken(`lease ${String(attempt)}`), tool: hashToken(`tool ${String(attempt)}`) };
}

/** What is refused, by its code. */
export const refusedAs = (code: ErrorCode) => ({ code });

export function makeTeam(testing: TestCell, project: string): Promise<Team> {
  return testing.store(project, (store) => new Team(testing, project, store));
}

/** Makes a running team for a test; everything is removed after it. */
export function teams(): (yaml?: string) => Promise<Team> {
  const open: TestCell[] = [];
  afterEach(async () => {
    for (const testing of open.splice(0)) await testing.close();
  });
  return async (yaml) => {
    const testing = await testCell();
    open.push(testing);
    testing.setNow(start);
    return makeTeam(testing, await testing.create(yaml));
  };
}
