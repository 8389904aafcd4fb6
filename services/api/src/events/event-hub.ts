import type { ServerResponse } from 'node:http';
import { SuzumioError } from '@suzumio/shared/errors/suzumio-error';
import type { EventCursor } from '@suzumio/shared/model/http-api';
import { eventPosition, listEvents } from '@suzumio/shared/store/queries/events';
import type { ApiDependencies } from '../context.js';
import { Follower } from './follower.js';
import { type EventPage, ProjectFeed } from './project-feed.js';

export interface EventHubOptions {
  /** How often each followed project is looked at without a hint. @default 1_000 */
  pollMs?: number;
  /** How often a stream says that it is still there. @default 15_000 */
  heartbeatMs?: number;
}

const pageSize = 200;

/** Every open event stream of this process, by project. */
export class EventHub {
  readonly #feeds = new Map<string, ProjectFeed>();
  readonly #stopListening: () => void;
  readonly #closing = new Set<Promise<void>>();
  #closed = false;

  constructor(
    private readonly dependencies: ApiDependencies,
    private readonly options: EventHubOptions = {},
  ) {
    this.#stopListening = dependencies.transport.onHint(({ project }) => this.#feeds.get(project)?.lookAgain());
  }

  /**
   * Sends a project's events from a place on, for as long as the client stays.
   *
   * @throws SuzumioError `server-unreachable` when this process is stopping
   */
  follow(project: string, from: EventCursor, response: ServerResponse): void {
    if (this.#closed) throw new SuzumioError('server-unreachable', 'This server is stopping; follow another one.');
    const feed = this.#feedOf(project);
    const follower = new Follower(response, from, () => feed.serve());
    const { sseClients } = this.dependencies.metrics;
    sseClients.inc();
    response.once('close', () => {
      sseClients.dec();
      feed.remove(follower);
      if (feed.size === 0) this.#forget(project, feed);
    });
    feed.add(follower);
  }

  /** Ends every stream; from now on nobody can follow. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopListening();
    for (const [project, feed] of this.#feeds) this.#forget(project, feed);
    await Promise.all(this.#closing);
  }

  #feedOf(project: string): ProjectFeed {
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

  #read(project: string, after: number): Promise<EventPage> {
    return this.dependencies.cell.stores.use(project, (store) =>
      store.snapshot((reader) => {
        const { epoch, seq } = eventPosition(reader);
        return { epoch, newest: seq, events: listEvents(reader, { after, limit: pageSize }) };
      }),
    );
  }

  /** Lets go of a feed that nobody follows any more, or that is to end. */
  #forget(project: string, feed: ProjectFeed): void {
    if (this.#feeds.get(project) === feed) this.#feeds.delete(project);
    const closing = feed.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
