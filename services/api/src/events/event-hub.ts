import type { ServerResponse } from 'node:http';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ProjectStatus } from '@suzumio/contract/model/project-status';
import { eventPosition, listEvents } from '@suzumio/store/projects/events';
import type { ApiDependencies } from '../context.js';
import type { Follower } from './follower.js';
import { type EventPage, ProjectFeed } from './project-feed.js';
import { StatusWaiter } from './status-waiter.js';
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
  readonly #stopListening: () => void;
  readonly #closing = new Set<Promise<void>>();
  #closed = false;

  constructor(
    private readonly dependencies: ApiDependencies,
    private readonly options: EventHubOptions = {},
  ) {
    dependencies.metrics.sseClients.set(0);
    this.#stopListening = dependencies.transport.onHint(({ project }) => this.#feeds.get(project)?.lookAgain());
  }

  /**
   * Streams a project's events until the client disconnects.
   *
   * @throws SuzumioError `server-unreachable` when this process is stopping
   */
  follow(project: string, response: ServerResponse, options: StreamOptions): void {
    const feed = this.#feedOf(project);
    const follower = new StreamFollower(response, options, () => feed.serve());
    const { sseClients } = this.dependencies.metrics;
    sseClients.inc();
    response.once('close', () => {
      sseClients.dec();
      this.#leave(project, feed, follower);
    });
    options.signal.addEventListener('abort', () => {
      this.#leave(project, feed, follower);
      follower.end();
    });
    feed.add(follower);
  }

  /**
   * Waits until a project reaches one of `statuses` after a position in its timeline.
   *
   * @returns undefined when `signal` ended the wait
   * @throws SuzumioError `server-unreachable` when this process is stopping, or cannot read the project any more;
   *   `project-unknown` when it was deleted
   */
  async waitForStatus(
    project: string,
    from: { epoch: number; seq: number },
    statuses: readonly ProjectStatus[],
    signal: AbortSignal,
  ): Promise<ProjectStatus | undefined> {
    const feed = this.#feedOf(project);
    const waiter = new StatusWaiter(from, statuses);
    feed.add(waiter);
    try {
      return await Promise.race([waiter.reached, aborted(signal)]);
    } finally {
      this.#leave(project, feed, waiter);
    }
  }

  /** Ends every stream, and refuses new ones. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopListening();
    for (const [project, feed] of this.#feeds) this.#forget(project, feed);
    await Promise.all(this.#closing);
  }

  #feedOf(project: string): ProjectFeed {
    if (this.#closed) throw new SuzumioError('server-unreachable', 'This server is stopping; follow another one.');
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
        const { epoch, seq } = eventPosition(reader);
        return { epoch, newest: seq, events: listEvents(reader, { after, limit: pageSize }) };
      }),
    );
  }

  /** Removes a feed without followers, or one that is to end. */
  #forget(project: string, feed: ProjectFeed): void {
    if (this.#feeds.get(project) === feed) this.#feeds.delete(project);
    const closing = feed.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
