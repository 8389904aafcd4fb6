import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { followEvents } from '@suzumio/contract/client/follow-events';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ProjectEvent } from '@suzumio/contract/model/event';
import type { TurnDetail } from '@suzumio/contract/model/views';
import { visibleLines } from '@suzumio/core/prompt/body';
import { turnId } from '@suzumio/protocol/ids';
import type { Client } from '@suzumio/contract/client/client';
import type { ApiClient } from './reach/api-client.js';
import { findReads, requireApi } from './reach/reach.js';
import { paint } from './render/colors.js';
import { sayJson, type Session } from './session.js';

export interface LogsOptions {
  attempt?: number;
  follow: boolean;
}

type Turn = Pick<TurnDetail, 'id' | 'agent' | 'number'>;

/** How long after an attempt's end its log may arrive: the worker sends both at once. */
const logWithinMs = 2_000;
const lookEveryMs = 100;

/** Prints a container's log, which is available once its attempt is over. */
export async function logs(session: Session, project: string, name: string, options: LogsOptions): Promise<undefined> {
  if (options.follow) await follow(session, await requireApi(session), project, name, options.attempt);
  else await printOne(session, await findReads(session), project, name, options.attempt);
  return undefined;
}

async function printOne(
  session: Session,
  api: Client,
  project: string,
  name: string,
  wanted: number | undefined,
): Promise<void> {
  const turn = await newestTurn(api, project, name);
  if (turn === undefined) throw new SuzumioError('turn-unknown', `${name} has had no turn yet.`);
  const label = `${turn.agent}:${turn.number}`;
  const attempt = wanted ?? turn.attempt;
  const found = turn.attempts.find(({ number }) => number === attempt);
  if (found === undefined && attempt > 0) {
    const newest = turn.attempt === 0 ? 'it has not begun' : `its newest is ${turn.attempt}`;
    throw new SuzumioError('turn-unknown', `${label} has had no attempt ${attempt}: ${newest}.`);
  }
  if (found === undefined || found.status === 'running') {
    const why = found === undefined ? `${label} has not begun` : `Attempt ${attempt} of ${label} runs`;
    print(session, turn, attempt, null, 'block');
    note(session, `${why}; what it prints is known when it has ended.`, `logs ${project} ${name} --follow`);
    return;
  }
  const log = await api.getTurnLog({ project, turn: turn.id, query: { attempt } });
  print(session, turn, attempt, log, 'block');
  if (log === '') note(session, `Attempt ${attempt} of ${label} printed nothing.`, `turns show ${project} ${label}`);
}

/** Prints the newest that there is, and then that of every attempt when it ends. */
async function follow(
  session: Session,
  api: ApiClient,
  project: string,
  name: string,
  wanted: number | undefined,
): Promise<void> {
  const [last] = (await api.listEvents({ project, query: { limit: 1 } })).items;
  const ofTurn = namesTurn(name);
  const turn = await newestTurn(api, project, name);
  const attempt = wanted ?? turn?.attempts.findLast(({ status }) => status !== 'running')?.number;
  if (turn && attempt !== undefined)
    print(session, turn, attempt, await api.getTurnLog({ project, turn: turn.id, query: { attempt } }), 'line');
  if (ofTurn && turn && turn.status !== 'queued' && turn.status !== 'running') return;

  const events = followEvents(api, {
    project,
    after: last?.id,
    onReset: () => note(session, `${project} was restored from a backup.`),
    onLost: () => note(session, `The connection to ${api.url} was lost; trying again.`),
    signal: session.context.interrupted,
  });
  for await (const event of events) {
    const concerns = ofTurn ? event.turn === turn?.id : event.agent === name;
    if (!concerns || !endsAttempt(event) || event.turn === null) continue;
    const of = { id: event.turn, agent: event.agent ?? '', number: Number(event.data.number) };
    await printWhenThere(session, api, project, of, Number(event.data.attempt));
    if (ofTurn && event.type !== 'turn.requeued') return;
  }
}

/** Whether an event ends an attempt that may have a log. */
function endsAttempt({ type, data }: ProjectEvent): boolean {
  return ['turn.completed', 'turn.failed', 'turn.requeued'].includes(type) && typeof data.attempt === 'number';
}

async function printWhenThere(
  session: Session,
  api: ApiClient,
  project: string,
  turn: Turn,
  attempt: number,
): Promise<void> {
  const deadline = session.context.now() + logWithinMs;
  let log = await api.getTurnLog({ project, turn: turn.id, query: { attempt } });
  while (log === '' && session.context.now() < deadline) {
    await sleep(lookEveryMs);
    log = await api.getTurnLog({ project, turn: turn.id, query: { attempt } });
  }
  print(session, turn, attempt, log, 'line');
}

/** Prints one log, null while it is not available; with a heading if there are several. With `--json`, an object. */
function print(session: Session, turn: Turn, attempt: number, log: string | null, layout: 'block' | 'line'): void {
  sayJson(session, { turn: turn.id, agent: turn.agent, number: turn.number, attempt, log }, layout);
  if (session.json || log === null) return;
  const { out } = session.context;
  if (layout === 'line') out.write(`${paint(out).dim(`== ${turn.agent}:${turn.number}, attempt ${attempt}`)}\n`);
  if (log === '') return;
  // Unchanged into a pipe; without control characters on a terminal.
  out.write(out.isTerminal ? `${visibleLines(stripVTControlCharacters(log).trimEnd()).join('\n')}\n` : log);
}

/** Prints a note about the log, apart from it. */
function note(session: Session, line: string, next?: string): void {
  if (session.json) return;
  session.context.err.write(`${line}\n${next === undefined ? '' : `next: ${session.suzumio} ${next}\n`}`);
}

async function newestTurn(api: Client, project: string, name: string): Promise<TurnDetail | undefined> {
  if (namesTurn(name)) return api.getTurn({ project, turn: name });
  const [newest] = (await api.listTurns({ project, query: { agent: name, limit: 1 } })).items;
  return newest && api.getTurn({ project, turn: newest.id });
}

function namesTurn(name: string): boolean {
  return name.includes(':') || turnId.safeParse(name).success;
}
