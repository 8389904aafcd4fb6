import { hostname } from 'node:os';
import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import type { Logger } from '@suzumio/runtime/observability/logger';
import { maxImageName, maxNamedImages, type WorkerPresence } from '@suzumio/protocol/worker-presence';
import type { Transport } from '@suzumio/runtime/queue/transport';
import { commit, version } from '@suzumio/runtime/version';
import type { Engines } from './attempt/host.js';
import type { Cells } from './toolhost/cells.js';

export interface PresenceOptions {
  transport: Pick<Transport, 'announce' | 'depart'>;
  worker: string;
  slots: number;
  /** The cells that it takes turns of, and those that refuse it. */
  cells: () => Pick<Cells, 'open' | 'refused'>;
  engines: Engines;
  /** How many turns it runs now. */
  busy: () => number;
  /** Whether jobs are taken now, and why not. */
  readiness: () => { ready: boolean; problem: string | undefined };
  logger: Logger;
}

/** A worker is forgotten after ten seconds without this. */
const announceMs = 3_000;
/** Images change seldom. */
const imagesMs = 10_000;

/**
 * Announces this worker to the fleet: its capacity, and what limits it. A worker that takes no jobs says so, and offers
 * no slots.
 */
export class Presence {
  #timer: NodeJS.Timeout | undefined;
  #draining = false;
  #closed = false;
  #images: readonly string[] | undefined;
  #imagesAtMs = -Infinity;
  #looking = false;
  /** Announcements are sent in order, so that a farewell is the last. */
  #said: Promise<void> = Promise.resolve();

  constructor(private readonly options: PresenceOptions) {}

  start(): void {
    this.#timer = setInterval(() => this.announce(), announceMs);
    this.announce();
  }

  announce(): void {
    if (this.#closed) return;
    this.#lookForImages();
    this.#say(() => this.options.transport.announce(this.#presence()));
  }

  /** Announces that it takes no more jobs; running ones continue. */
  drain(): void {
    this.#draining = true;
    this.announce();
  }

  /** Announces that it stops. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closed = true;
    this.#say(() => this.options.transport.depart(this.options.worker));
    await this.#said;
  }

  #presence(): WorkerPresence {
    const { worker, slots, cells, engines, busy, readiness } = this.options;
    const { ready, problem } = readiness();
    const { open, refused } = cells();
    const takes = ready && !this.#draining;
    return {
      worker,
      slots: takes ? slots : 0,
      state: this.#draining ? 'draining' : ready ? 'ready' : 'not-ready',
      ...(ready || problem === undefined ? {} : { problem }),
      cells: open,
      ...(refused.length === 0 ? {} : { refusedBy: refused }),
      busy: busy(),
      version,
      ...(commit === undefined ? {} : { commit }),
      host: hostname(),
      backends: Object.keys(engines),
      ...(this.#images === undefined ? {} : { images: [...this.#images] }),
    };
  }

  #say(what: () => Promise<void>): void {
    this.#said = this.#said
      .then(what)
      .catch((error: unknown) => this.options.logger.debug({ err: error }, 'the worker could not be announced'));
  }

  /** Separate from the announcements: a hanging engine must not make its worker look dead. */
  #lookForImages(): void {
    const engine = this.options.engines.docker;
    if (!engine?.images || this.#looking || performance.now() - this.#imagesAtMs < imagesMs) return;
    this.#looking = true;
    engine
      .images()
      .then((all) => {
        const images = all.filter((name) => name.length <= maxImageName);
        const first = this.#images === undefined;
        this.#images = images.length > maxNamedImages ? undefined : images;
        this.#imagesAtMs = performance.now();
        if (first) this.announce();
      })
      .catch((error: unknown) => {
        this.#images = undefined;
        this.options.logger.debug({ reason: messageOf(error) }, 'the images could not be listed');
      })
      .finally(() => {
        this.#looking = false;
      });
  }
}
