import type Docker from 'dockerode';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@suzumio/shared/observability/logger';
import type { SandboxEnd } from '../turn-engine.js';
import { statusOf } from './engine-errors.js';

export interface ContainerEndsOptions {
  docker: Docker;
  /** A filter for the containers of this worker. */
  label: string;
  logger: Logger;
  /** Called when the engine no longer answers. */
  onLost: () => void;
}

interface DieEvent {
  id?: string;
  Actor?: { Attributes?: { exitCode?: string } };
}

const firstPauseMs = 100;
const longestPauseMs = 2_000;
/** Between looks at containers whose event may have been lost. */
const lookMs = 5_000;

/** Learns how containers end, from one stream of the engine's events. Where it breaks, the engine is asked again. */
export class ContainerEnds {
  readonly #waiting = new Map<string, (end: SandboxEnd) => void>();
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

  /** How a container that was created ends. Call it before the container is started. */
  of(id: string): { end: Promise<SandboxEnd>; forget: () => void } {
    const end = new Promise<SandboxEnd>((resolve) => this.#waiting.set(id, resolve));
    return { end, forget: () => this.#waiting.delete(id) };
  }

  /** Asks the engine whether a container has ended. */
  async look(id: string): Promise<void> {
    try {
      const { State: state } = await this.options.docker.getContainer(id).inspect();
      if (state.Status !== 'exited' && state.Status !== 'dead') return;
      this.#ended(id, { exitCode: state.ExitCode, oomKilled: state.OOMKilled });
    } catch (error) {
      if (statusOf(error) === 404) this.#ended(id, { exitCode: -1, vanished: true });
    }
  }

  #ended(id: string, end: SandboxEnd): void {
    this.#waiting.get(id)?.(end);
    this.#waiting.delete(id);
  }

  async #connect(): Promise<Readable> {
    const filters = { type: ['container' as const], event: ['die', 'destroy'], label: [this.options.label] };
    const stream = (await this.options.docker.getEvents({
      filters,
      abortSignal: this.#stop.signal,
    })) as unknown as Readable;
    this.#stream = stream;
    return stream;
  }

  async #follow(first: Readable): Promise<void> {
    let pauseMs = firstPauseMs;
    let stream: Readable | undefined = first;
    for (;;) {
      try {
        stream ??= await this.#connect();
        pauseMs = firstPauseMs;
        this.#lookAtAll();
        await this.#read(stream);
      } catch (error) {
        this.options.logger.debug({ err: error }, 'the stream of engine events broke');
      }
      stream = undefined;
      if (this.#stop.signal.aborted) return;
      this.options.onLost();
      await sleep(pauseMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
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
    const event = JSON.parse(line) as DieEvent;
    if (event.id === undefined || !this.#waiting.has(event.id)) return;
    // Only an exit code of zero explains itself; for another one the engine knows whether memory ran out.
    if (event.Actor?.Attributes?.exitCode === '0') this.#ended(event.id, { exitCode: 0 });
    else this.#lookUntilEnded(event.id);
  }

  /** The event may come a moment before the engine's own record of it. */
  #lookUntilEnded(id: string, tries = 20): void {
    this.look(id)
      .then(async () => {
        if (!this.#waiting.has(id) || tries === 0) return;
        await sleep(25);
        this.#lookUntilEnded(id, tries - 1);
      })
      .catch((error: unknown) => this.options.logger.error({ err: error }, 'looking at a container failed'));
  }

  #lookAtAll(): void {
    for (const id of this.#waiting.keys()) this.#lookUntilEnded(id, 0);
  }
}
