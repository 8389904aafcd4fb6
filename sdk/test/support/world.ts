import type { HandlerLogger, TeamHandlerOptions } from '../../src/index.js';
import { findTurn } from '../../../shared/store/src/turns/read-turns.js';
import { postMessage } from '../../../shared/store/src/mail/post-message.js';
import { startTurns } from '../../../shared/store/src/turns/start-turns.js';
import type { ToolhostConfig } from '../../../services/toolhost/src/index.js';
import { type ToolhostBench, toolhostBench } from '../../../services/toolhost/test/toolhost-client.js';
import { eventually } from '../../../test/support/poll.js';
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.js';

const project = `
name: team
task: Do the work.
channels: ["#team"]
backend: { runner: { mode: mock } }
agents:
  ada: { role: writer, prompt: Write., tools: ["*"], backend: external, team: north }
  ben: { role: reader, prompt: Read., tools: ["*"], backend: external }
  cat: { role: watcher, prompt: Watch., tools: ["*"] }
`;

/** A ToolHost behind a proxy that a test can break, and a project whose turns are started as mail comes. */
export interface World {
  bench: ToolhostBench;
  project: string;
  proxy: FaultyProxy;
  /** What a handler of ada and ben is made of. */
  options: TeamHandlerOptions;
  logger: HandlerLogger;
  said: string[];
  mail(recipient: string, body?: string): Promise<void>;
  /** The turns of an agent, oldest first. */
  turns(
    agent?: string,
  ): Promise<{ id: string; status: string; attempt: number; text: string | null; code: string | null }[]>;
  /** Waits until an agent has so many turns that have this status. */
  until(agent: string, status: string, count?: number): Promise<void>;
  bodiesFrom(sender: string): Promise<string[]>;
  detail(turn: string): ReturnType<typeof findTurn>;
  /** What a wait that hangs is to show. */
  state: () => Promise<unknown>;
  close(): Promise<void>;
}

export async function createWorld(config: Partial<ToolhostConfig> = {}): Promise<World> {
  const bench = await toolhostBench(config);
  const { testing } = bench;
  const id = await testing.create(project);
  const { secret: token } = await testing.cell.catalog.tokens.create({
    name: 'desk',
    scope: 'handler',
    project: id,
    agents: ['ada', 'ben'],
    actor: 'admin',
  });
  const proxy = await startFaultyProxy(() => bench.toolhost.workerUrl);
  const said: string[] = [];
  const say = (message: string) => void said.push(message);
  const logger = { info: say, warn: say };
  let scheduling: Promise<unknown> = Promise.resolve();
  const scheduler = setInterval(() => {
    if (bench.wakes.splice(0).length > 0) scheduling = scheduling.then(() => testing.write(id, startTurns));
  }, 5);

  const turns: World['turns'] = (agent = 'ada') =>
    testing.rows(
      id,
      `SELECT id, status, attempt, output_text AS text, failure_json ->> 'code' AS code FROM turns
       WHERE agent_id = '${agent}' ORDER BY number`,
    );
  const state = async () => ({
    project: await testing.rows(id, 'SELECT status FROM projects'),
    agents: await testing.rows(id, 'SELECT id, state FROM agents'),
    turns: await testing.rows(id, 'SELECT agent_id, number, status, attempt, failure_json FROM turns'),
    attempts: await testing.rows(id, 'SELECT turn_id, number, status, worker FROM turn_attempts'),
    said: said.slice(-10),
    asked: proxy.seen.slice(-20),
  });
  let store: Parameters<typeof findTurn>[0] | undefined;
  await testing.store(id, ({ reader }) => {
    store = reader;
  });
  return {
    bench,
    project: id,
    proxy,
    options: { url: proxy.url, token, name: 'desk-1', logger },
    logger,
    said,
    async mail(recipient, body = 'Go.') {
      await testing.write(id, (tx) => {
        postMessage(tx, { sender: 'user', recipient, priority: 'P1', body, actor: 'test' });
        startTurns(tx);
      });
    },
    turns,
    async until(agent, status, count = 1) {
      await eventually(
        `${String(count)} turns of ${agent} are ${status}`,
        async () => (await turns(agent)).filter((turn) => turn.status === status).length >= count,
        { show: state },
      );
    },
    bodiesFrom: async (sender) =>
      (
        await testing.rows<{ body: string }>(id, `SELECT body FROM messages WHERE sender = '${sender}' ORDER BY seq`)
      ).map(({ body }) => body),
    detail(turn) {
      if (!store) throw new Error('the project is not open');
      return findTurn(store, turn);
    },
    state,
    async close() {
      clearInterval(scheduler);
      await scheduling;
      await proxy.close();
      await bench.close();
    },
  };
}
