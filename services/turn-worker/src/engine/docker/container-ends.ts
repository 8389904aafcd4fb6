import type Docker from 'dockerode';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { backOff } from '@suzumio/protocol/retry';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Disturbance, SandboxEnd } from '../turn-engine.js';
import { statusOf } from './engine-errors.js';

export interface ContainerEndsOptions {
  docker: Docker;
  /** A filter for the containers of this worker. */
  label: string;
  logger: Logger;
  /** Called when the engine no longer answers. */
  onLost: () => void;
}

interface ContainerEvent {
  id?: string;
  Action?: string;
  Actor?: { Attributes?: { exitCode?: string } };
}

const reconnects = { firstDelayMs: 100, longestDelayMs: 2_000 };
/** The interval for polling containers whose event may have been lost. */
const lookMs = 5_000;

/** A container whose end is known or awaited. */
interface Watched {
  /** Absent once it has ended. */
  resolve?: ((end: SandboxEnd) => void) | undefined;
  disturbance: AbortController;
}

/**
 * Learns how and why containers end from one stream of the engine's events. Where the stream breaks, the engine is
 * polled.
 */
export class ContainerEnds {
  readonly #watched = new Map<string, Watched>();
  #connected = false;
  readonly #stop = new AbortController();
  #stream: Readable | undefined;
  #following: Promise<void> | undefined;
  #looking: NodeJS.Timeout | undefined;

  constructor(private readonly options: ContainerEndsOptions) {}

  /** Resolves when events are being received. */
  async open(): Promise<void> {
    const first = await this.#connect();
    this.#following = this.#follow(first);
    this.#looking = setInterval(() => this.#lookAtAll(), lookMs);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    clearInterval(this.#looking);
    this.#stream?.destroy();
    await this.#following;
  }

  /**
   * The end of a created container, and a signal for external causes, which may fire a moment later. Call it before the
   * container is started, and `forget` when it no longer matters.
   */
  of(id: string): { end: Promise<SandboxEnd>; disturbed: AbortSignal; forget: () => void } {
    const disturbance = new AbortController();
    const end = new Promise<SandboxEnd>((resolve) => this.#watched.set(id, { resolve, disturbance }));
    return { end, disturbed: disturbance.signal, forget: () => this.#watched.delete(id) };
  }

  /** Polls the engine whether a container has ended; `unheard` says that its event would have been missed. */
  async look(id: string, unheard = !this.#connected): Promise<void> {
    try {
      const { State: state } = await this.options.docker.getContainer(id).inspect();
      if (state.Status !== 'exited' && state.Status !== 'dead') return;
      if (unheard) this.#disturb(id, 'engine-away');
      this.#ended(id, { exitCode: state.ExitCode, oomKilled: state.OOMKilled });
    } catch (error) {
      if (statusOf(error) === 404) this.#ended(id, { exitCode: -1, vanished: true });
    }
  }

  #ended(id: string, end: SandboxEnd): void {
    const watched = this.#watched.get(id);
    watched?.resolve?.(end);
    if (watched) watched.resolve = undefined;
  }

  #isWaiting(id: string): boolean {
    return this.#watched.get(id)?.resolve !== undefined;
  }

  #disturb(id: string, how: Disturbance): void {
    this.#watched.get(id)?.disturbance.abort(how);
  }

  async #connect(): Promise<Readable> {
    const filters = { type: ['container' as const], event: ['kill', 'die', 'destroy'], label: [this.options.label] };
    const stream = (await this.options.docker.getEvents({
      filters,
      abortSignal: this.#stop.signal,
    })) as unknown as Readable;
    this.#stream = stream;
    this.#connected = true;
    return stream;
  }

  async #follow(first: Readable): Promise<void> {
    let wait = backOff(reconnects, this.#stop.signal);
    let stream: Readable | undefined = first;
    for (;;) {
      try {
        stream ??= await this.#connect();
        wait = backOff(reconnects, this.#stop.signal);
        this.#lookAtAll(stream !== first);
        await this.#read(stream);
      } catch (error) {
        this.options.logger.debug({ err: error }, 'the stream of engine events broke');
      }
      stream = undefined;
      this.#connected = false;
      if (this.#stop.signal.aborted) return;
      // Containers that have just ended may have been the first victims.
      for (const [id, { resolve }] of this.#watched) if (resolve === undefined) this.#disturb(id, 'engine-away');
      this.options.onLost();
      await wait();
    }
  }

  async #read(stream: Readable): Promise<void> {
    let rest = '';
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const lines = (rest + chunk.toString('utf8')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') this.#take(line);
    }
  }

  #take(line: string): void {
    const event = JSON.parse(line) as ContainerEvent;
    if (event.id === undefined || !this.#isWaiting(event.id)) return;
    if (event.Action === 'kill') this.#disturb(event.id, 'signalled');
    // Only exit code 0 is clear; for others the engine knows whether memory ran out.
    else if (event.Actor?.Attributes?.exitCode === '0') this.#ended(event.id, { exitCode: 0 });
    else this.#lookUntilEnded(event.id, { unheard: false });
  }

  /** Polls repeatedly: the event may come before the engine's own state changes. */
  #lookUntilEnded(id: string, { unheard, tries = 20 }: { unheard: boolean; tries?: number }): void {
    this.look(id, unheard)
      .then(async () => {
        if (!this.#isWaiting(id) || tries === 0) return;
        await sleep(25);
        this.#lookUntilEnded(id, { unheard, tries: tries - 1 });
      })
      .catch((error: unknown) => this.options.logger.error({ err: error }, 'inspecting a container failed'));
  }

  #lookAtAll(unheard = !this.#connected): void {
    for (const id of this.#watched.keys()) if (this.#isWaiting(id)) this.#lookUntilEnded(id, { unheard, tries: 0 });
  }
}
