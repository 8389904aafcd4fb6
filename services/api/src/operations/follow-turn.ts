import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { LiveEnd, LiveMessage, turns } from '@suzumio/contract/operations/turns';
import type { EventType } from '@suzumio/contract/model/event';
import { writeInTurn } from '@suzumio/runtime/http/write-in-turn';
import { eventPosition } from '@suzumio/store/projects/events';
import { turnCalled } from '@suzumio/store/turns/read-turns';
import type { TurnRow } from '@suzumio/store/rows';
import type { Call } from '../call.js';
import type { EventHub } from '../events/event-hub.js';
import type { OpenAccess } from '../open-access.js';

const beatMs = 15_000;
/** How long after the end of an attempt is on record its last frames may come. */
const lastWordsMs = 500;

const endings: ReadonlySet<EventType | undefined> = new Set<EventType>([
  'turn.completed',
  'turn.failed',
  'turn.requeued',
  'turn.cancelled',
]);

type FollowCall = Call<(typeof turns)['followTurn']>;

/** Streams what a turn does, from the ToolHosts, until its attempt is over by the record. */
export async function followTurn(call: FollowCall, hub: EventHub, access: OpenAccess): Promise<undefined> {
  const { request, response, context } = call;
  const { project } = call.params;
  const begun = await turnNow(call);
  if (request.method === 'HEAD') {
    response.type('text/event-stream').end();
    return;
  }
  if (!isUnderWay(begun.turn)) {
    const stream = new LiveStream(response);
    stream.end(endOf(begun.turn));
    return;
  }
  const gone = new AbortController();
  response.once('close', () => gone.abort('closed'));
  const ended = AbortSignal.any([gone.signal, access.of(response)]);
  const over = new AbortController();
  const done = AbortSignal.any([ended, over.signal]);
  if (!context.toolhosts) {
    throw new SuzumioError('live-unavailable', 'Running turns cannot be followed: no server runs that knows of them.');
  }
  const pass = await context.toolhosts.follow(project, begun.turn.id, done);
  const stream = new LiveStream(response);
  const { sseClients } = context.metrics;
  sseClients.inc();
  try {
    const passing = pass((data) => stream.write({ event: 'live', data }));
    const turn = await endedTurn(call, hub, begun, ended);
    if (turn) await Promise.race([passing, sleep(lastWordsMs, undefined, { ref: false })]);
    over.abort('over');
    await passing;
    stream.end(turn && endOf(turn));
  } finally {
    over.abort('over');
    sseClients.dec();
  }
}

interface TurnNow {
  turn: TurnRow;
  position: { epoch: number; seq: number };
}

function turnNow(call: FollowCall): Promise<TurnNow> {
  return call.read((reader) => ({ turn: turnCalled(reader, call.params.turn), position: eventPosition(reader) }));
}

/** Waits for the end of the attempt that runs, or comes next. Undefined where that is not to be known any more. */
async function endedTurn(
  call: FollowCall,
  hub: EventHub,
  begun: TurnNow,
  signal: AbortSignal,
): Promise<TurnRow | undefined> {
  const { project } = call.params;
  const awaited = begun.turn.attempt + (begun.turn.status === 'running' ? 0 : 1);
  let { position } = begun;
  try {
    for (;;) {
      const { epoch } = position;
      const seq = await hub.waitFor(
        project,
        position,
        ({ type, seq: at, text }) => (endings.has(type) && text.includes(begun.turn.id) ? at : undefined),
        signal,
      );
      if (seq === undefined) return undefined;
      const { turn } = await turnNow(call);
      // Events of other turns may name it.
      if (!isUnderWay(turn) || turn.status === 'queued' || turn.attempt > awaited) return turn;
      position = { epoch, seq };
    }
  } catch (error) {
    // This process is stopping, or the project was deleted.
    if (isSuzumioError(error)) return undefined;
    throw error;
  }
}

function isUnderWay({ status }: TurnRow): boolean {
  return status === 'queued' || status === 'running';
}

function endOf({ attempt, status }: TurnRow): LiveEnd {
  return { attempt, status };
}

/** Server-sent events to a client who is waited for. */
class LiveStream {
  readonly #beats: NodeJS.Timeout;

  constructor(private readonly response: ServerResponse) {
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      // Tells proxies not to buffer events.
      'x-accel-buffering': 'no',
    });
    response.write('retry: 1000\n\n');
    this.#beats = setInterval(() => {
      if (!response.writableNeedDrain) response.write(':\n\n');
    }, beatMs);
    response.once('close', () => clearInterval(this.#beats));
  }

  /** Resolves once there is room for more. */
  write(message: LiveMessage): Promise<void> {
    return writeInTurn(this.response, textOf(message));
  }

  end(data: LiveEnd | undefined): void {
    this.response.end(data && textOf({ event: 'end', data }));
  }
}

function textOf({ event, data }: LiveMessage): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
