import type { ServerResponse } from 'node:http';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ProjectEvent } from '@suzumio/contract/model/event';
import type { CellNotice } from '@suzumio/contract/operations/cell-events';
import { eventPosition, listEvents } from '@suzumio/store/projects/events';
import type { ApiDependencies } from '../context.js';
import { cellPage, type CellEntry } from './cell-pages.js';
import { CellWatch } from './cell-watch.js';
import { EventWaiter } from './event-waiter.js';
import type { Follower, Frame } from './follower.js';
import { type EventPage, ProjectFeed } from './project-feed.js';
import { StreamFollower, type StreamOptions } from './stream-follower.js';

export interface EventHubOptions {
  /** How often each followed project is polled without a hint. @default 1_000 */
  pollMs?: number;
  /** The interval of heartbeats on a stream. @default 15_000 */
  heartbeatMs?: number;
}

const pageSize = 200;

/** The followers of events in this process, by project. */
export class EventHub {
  readonly #feeds = new Map<string, ProjectFeed>();
  #cell: { feed: ProjectFeed; watch: CellWatch } | undefined;
  readonly #stopListening: () => void;
  readonly #closing = new Set<Promise<void>>();
  #closed = false;

  constructor(
    private readonly dependencies: ApiDependencies,
    private readonly options: EventHubOptions = {},
  ) {
    dependencies.metrics.sseClients.set(0);
    this.#stopListening = dependencies.transport.onHint(({ project }) => {
      this.#feeds.get(project)?.lookAgain();
      this.#cell?.watch.hint(project);
    });
  }

  /**
   * Streams a project's events until the client disconnects.
   *
   * @throws SuzumioError `server-unreachable` when this process is stopping
   */
  follow(project: string, response: ServerResponse, options: StreamOptions): void {
    const feed = this.#feedOf(project);
    this.#stream(feed, response, options, () => {
      if (feed.size === 0) this.#forget(project, feed);
    });
  }

  /**
   * Streams the events of all projects until the client disconnects.
   *
   * @throws SuzumioError `server-unreachable` when this process is stopping
   */
  followCell(response: ServerResponse, options: StreamOptions): void {
    const cell = (this.#cell ??= this.#cellFeed());
    this.#stream(cell.feed, response, options, () => {
      if (cell.feed.size === 0) this.#forgetCell(cell);
    });
  }

  #stream(feed: ProjectFeed, response: ServerResponse, options: StreamOptions, onLeave: () => void): void {
    const follower = new StreamFollower(response, options, () => feed.serve());
    const { sseClients } = this.dependencies.metrics;
    const leave = () => {
      feed.remove(follower);
      onLeave();
    };
    sseClients.inc();
    response.once('close', () => {
      sseClients.dec();
      leave();
    });
    options.signal.addEventListener('abort', () => {
      leave();
      follower.end();
    });
    feed.add(follower);
  }

  #cellFeed(): { feed: ProjectFeed; watch: CellWatch } {
    this.#assertOpen();
    const { cell, logger } = this.dependencies;
    const onFailure = (error: unknown) => logger.error({ err: error }, 'events of the cell cannot be read');
    const { pollMs = 1_000, heartbeatMs = 15_000 } = this.options;
    const feed = new ProjectFeed({
      async read(after) {
        const { epoch, newest, entries, last } = await cellPage(cell, after);
        return { epoch, newest, frames: entries.map((entry) => cellFrame(epoch, entry)), last };
      },
      onFailure,
      pollMs,
      heartbeatMs,
    });
    const watch = new CellWatch(cell, { pollMs, onFailure, onNews: () => feed.lookAgain() });
    watch.start();
    return { feed, watch };
  }

  #forgetCell(cell: { feed: ProjectFeed; watch: CellWatch }): void {
    if (this.#cell === cell) this.#cell = undefined;
    this.#close(Promise.all([cell.feed.close(), cell.watch.stop()]));
  }

  #assertOpen(): void {
    if (this.#closed) throw new SuzumioError('server-unreachable', 'This server is stopping; follow another one.');
  }

  /**
   * Waits for an event of a project, after a position in its timeline, in which `find` finds something.
   *
   * @returns undefined when `signal` ended the wait
   * @throws SuzumioError `server-unreachable` when this process is stopping, or cannot read the project any more;
   *   `project-unknown` when it was deleted
   */
  async waitFor<Found>(
    project: string,
    from: { epoch: number; seq: number },
    find: (frame: Frame) => Found | undefined,
    signal: AbortSignal,
  ): Promise<Found | undefined> {
    const feed = this.#feedOf(project);
    const waiter = new EventWaiter(from, find);
    feed.add(waiter);
    try {
      return await Promise.race([waiter.found, aborted(signal)]);
    } finally {
      this.#leave(project, feed, waiter);
    }
  }

  /** Ends every stream, and refuses new ones. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopListening();
    for (const [project, feed] of this.#feeds) this.#forget(project, feed);
    if (this.#cell) this.#forgetCell(this.#cell);
    await Promise.all(this.#closing);
  }

  #feedOf(project: string): ProjectFeed {
    this.#assertOpen();
    const open = this.#feeds.get(project);
    if (open) return open;
    const feed = new ProjectFeed({
      read: (after) => this.#read(project, after),
      onFailure: (error) => this.dependencies.logger.error({ err: error, project }, 'events cannot be read'),
      pollMs: this.options.pollMs ?? 1_000,
      heartbeatMs: this.options.heartbeatMs ?? 15_000,
    });
    this.#feeds.set(project, feed);
    return feed;
  }

  #leave(project: string, feed: ProjectFeed, follower: Follower): void {
    feed.remove(follower);
    if (feed.size === 0) this.#forget(project, feed);
  }

  #read(project: string, after: number): Promise<EventPage> {
    return this.dependencies.cell.stores.use(project, (store) =>
      store.snapshot((reader) => {
        const { epoch, seq: newest } = eventPosition(reader);
        const { items: events } = listEvents(reader, { after, limit: pageSize });
        return { epoch, newest, frames: events.map(frameOf), last: events.at(-1)?.seq ?? after };
      }),
    );
  }

  /** Removes a feed without followers, or one that is to end. */
  #forget(project: string, feed: ProjectFeed): void {
    if (this.#feeds.get(project) === feed) this.#feeds.delete(project);
    this.#close(feed.close());
  }

  #close(ended: Promise<unknown>): void {
    const closing: Promise<void> = ended.then(
      () => void this.#closing.delete(closing),
      () => void this.#closing.delete(closing),
    );
    this.#closing.add(closing);
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

function frameOf(event: ProjectEvent): Frame {
  const { seq, type, agent } = event;
  const answers = type === 'message.created' ? event.data.replyTo : undefined;
  return { seq, type, agent, answers, text: eventText(event.id, type, event) };
}

/** An event as it goes over the wire. */
function eventText(id: string, type: string, data: unknown): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function cellFrame(epoch: number, { number: seq, project, labels, told }: CellEntry): Frame {
  const id = `${epoch}-${seq}`;
  if ('event' in told) {
    const { type, agent } = told.event;
    return { seq, type, agent, project, labels, text: eventText(id, type, told.event) };
  }
  const data: CellNotice = { project, epoch: told.epoch };
  return { seq, type: undefined, agent: null, project, labels, text: eventText(id, `project.${told.notice}`, data) };
}
