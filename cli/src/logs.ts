import { setTimeout as sleep } from 'node:timers/promises';
import { followEvents } from '@suzumio/contract/client/follow-events';
import { messageOf, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ProjectEvent } from '@suzumio/contract/model/event';
import type { TurnDetail } from '@suzumio/contract/model/turn';
import { visibleLines } from '@suzumio/core/prompt/body';
import { turnId } from '@suzumio/protocol/ids';
import type { LiveFrame } from '@suzumio/protocol/live';
import { withoutTerminalSequences } from '@suzumio/protocol/terminal-sequences';
import type { Client } from '@suzumio/contract/client/client';
import { followLive, gapText } from './live-turn.js';
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

/** Prints the newest log that there is, then what is printed while it happens; the log of an attempt of which nothing was seen. */
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

  const live = new LiveLogs(session, api, project);
  if (turn && (turn.status === 'queued' || turn.status === 'running')) live.begin(turn);
  const events = followEvents(api, {
    project,
    after: last?.id,
    onReset: () => note(session, `${project} was restored from a backup.`),
    onLost: () => note(session, `The connection to ${api.url} was lost; trying again.`),
    signal: session.context.interrupted,
  });
  for await (const event of events) {
    const concerns = ofTurn ? event.turn === turn?.id : event.agent === name;
    if (!concerns || event.turn === null) continue;
    const of = { id: event.turn, agent: event.agent ?? '', number: Number((event.data as { number?: number }).number) };
    if (event.type === 'turn.queued' || event.type === 'turn.started') live.begin(of);
    if (!endsAttempt(event)) {
      if (ofTurn && event.type === 'turn.cancelled') return;
      continue;
    }
    const attempt = Number(event.data.attempt);
    const isTriedAgain = event.type === 'turn.requeued';
    const wasSeen = await live.wasSeen(of, isTriedAgain);
    if (!wasSeen || session.json) await printWhenThere(session, api, project, of, attempt);
    else
      note(
        session,
        `Attempt ${attempt} of ${of.agent}:${of.number} has ended.`,
        `logs ${project} ${of.agent}:${of.number}`,
      );
    if (ofTurn && !isTriedAgain) return;
  }
}

/** How long after an attempt's end the end of what it printed may come. */
const lastWordsMs = 1_500;

/** What turns print, while they do. */
class LiveLogs {
  /** Whether something of the present attempt was seen, and when all of it was. */
  readonly #turns = new Map<string, { seen: boolean; done: Promise<void> }>();
  #source = '';
  #isInLine = false;

  constructor(
    private readonly session: Session,
    private readonly api: ApiClient,
    private readonly project: string,
  ) {}

  begin(turn: Turn): void {
    if (this.#turns.has(turn.id)) return;
    const { session, api, project } = this;
    const state = { seen: false, done: Promise.resolve() };
    this.#turns.set(turn.id, state);
    state.done = followLive(api, { project, turn, signal: session.context.interrupted }, (frame) => {
      state.seen ||= frame.kind !== 'gap';
      this.#print(turn, frame);
    }).then(
      (refusal) => {
        if (refusal)
          note(session, `What ${turn.agent}:${turn.number} prints is shown when it ends: ${refusal.message}`);
      },
      (error: unknown) =>
        note(session, `What ${turn.agent}:${turn.number} prints is shown when it ends: ${messageOf(error)}`),
    );
  }

  /** Whether something of a turn's attempt that has ended was seen. */
  async wasSeen({ id }: Turn, isTriedAgain: boolean): Promise<boolean> {
    const state = this.#turns.get(id);
    if (!state) return false;
    await Promise.race([state.done, sleep(lastWordsMs, undefined, { ref: false })]);
    const { seen } = state;
    state.seen = false;
    if (!isTriedAgain) this.#turns.delete(id);
    this.#endLine();
    return seen;
  }

  #print(turn: Turn, frame: LiveFrame): void {
    const { session } = this;
    sayJson(session, { turn: turn.id, agent: turn.agent, number: turn.number, live: frame }, 'line');
    if (session.json) return;
    const { out } = session.context;
    const source = frame.kind === 'gap' ? 'gap' : `${turn.id} ${frame.kind} ${frame.step}`;
    if (source !== this.#source) this.#endLine();
    if (!this.#source.startsWith(turn.id) && frame.kind !== 'gap') {
      out.write(`${paint(out).dim(`== ${turn.agent}:${turn.number}, as it runs`)}\n`);
    }
    if (frame.kind === 'gap') {
      out.write(`${paint(out).dim(gapText(frame.bytes))}\n`);
      return;
    }
    this.#source = source;
    const text = out.isTerminal ? visibleLines(withoutTerminalSequences(frame.text)).join('\n') : frame.text;
    out.write(text);
    this.#isInLine = !text.endsWith('\n');
  }

  #endLine(): void {
    if (this.#isInLine && !this.session.json) this.session.context.out.write('\n');
    this.#isInLine = false;
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
  out.write(out.isTerminal ? `${visibleLines(withoutTerminalSequences(log).trimEnd()).join('\n')}\n` : log);
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
