import type { ErrorCode } from '@suzumio/contract/errors/codes';
import { HttpRefusal } from '@suzumio/protocol/http-failures';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { CellConfig } from '../config.js';
import { keepConnections, type KeptConnections } from './kept-connections.js';
import { ToolHostClient } from './toolhost-client.js';

/** A cell that a worker serves. */
export interface Cell {
  name: string;
  toolhost: ToolHostClient;
  runnerUrl: string;
  /** The doors' connections to the ToolHost. */
  toRunners: KeptConnections;
}

export interface CellsOptions {
  cells: Readonly<Record<string, CellConfig>>;
  /** A cell's present credential, where it may be replaced. */
  credentialOf?: ((cell: string) => string | undefined) | undefined;
  /** This worker's id. */
  worker: string;
  /** How long a request without content may go without traffic. */
  callMs: number;
  logger: Logger;
  /** Called when the set of cells that accept this worker changes. */
  onChange: () => void;
}

/** No cell accepts this worker. */
export class WorkerRefused extends Error {
  override readonly name = 'WorkerRefused';

  constructor(
    /** The code of a ToolHost's refusal. */
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** The cells that a worker serves, and which of them accept it, as far as is known. */
export class Cells {
  readonly #cells = new Map<string, Cell>();
  readonly #rejected = new Map<string, HttpRefusal>();

  constructor(private readonly options: CellsOptions) {
    for (const [name, { runnerUrl, ...config }] of Object.entries(options.cells)) {
      const toolhost = new ToolHostClient({ runnerUrl, ...config }, options.worker, options.callMs);
      this.#cells.set(name, { name, toolhost, runnerUrl, toRunners: keepConnections(runnerUrl) });
    }
  }

  get(name: string): Cell | undefined {
    return this.#cells.get(name);
  }

  /** The names of those that accept this worker. */
  get open(): string[] {
    return [...this.#cells.keys()].filter((name) => !this.#rejected.has(name));
  }

  /** Those that refuse it, and their codes. */
  get refused(): { cell: string; code: string }[] {
    return [...this.#rejected].map(([cell, { code }]) => ({ cell, code }));
  }

  /**
   * Asks all cells whether they accept this worker. One that does not answer has not refused it.
   *
   * @throws WorkerRefused when none accepts it
   */
  async check(): Promise<void> {
    await Promise.allSettled(
      [...this.#cells.values()].map((cell) => {
        const credential = this.options.credentialOf?.(cell.name);
        if (credential !== undefined) cell.toolhost.useCredential(credential);
        return this.ask(cell, () => cell.toolhost.greet());
      }),
    );
    const [[name, refusal] = []] = this.#rejected;
    if (this.open.length > 0 || name === undefined || refusal === undefined) return;
    throw new WorkerRefused(refusal.code, told(name, refusal));
  }

  /** Makes a request with the credential, and learns from its answer. Throws what the request throws. */
  async ask<Answer>({ name }: Cell, request: () => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await request();
      this.#note(name, undefined);
      return answer;
    } catch (error) {
      if (error instanceof HttpRefusal) this.#note(name, ofWorker.has(error.code) ? error : undefined);
      throw error;
    }
  }

  close(): void {
    for (const { toolhost, toRunners } of this.#cells.values()) {
      toolhost.close();
      toRunners.close();
    }
  }

  #note(name: string, refusal: HttpRefusal | undefined): void {
    const { logger, onChange } = this.options;
    if (this.#rejected.has(name) === (refusal !== undefined)) return;
    if (refusal) this.#rejected.set(name, refusal);
    else this.#rejected.delete(name);
    // If no cell is left, the worker's readiness reports it.
    if (refusal && this.open.length > 0) logger.error({ cell: name, code: refusal.code }, told(name, refusal));
    if (!refusal) logger.info({ cell: name }, 'a cell accepts this worker again');
    onChange();
  }
}

/** Refusals of the credential itself. */
const ofCredential: ReadonlySet<string> = new Set<ErrorCode>(['token-rejected', 'unauthenticated']);
/** Refusals of any request from this worker. Others concern the request itself, such as a turn's policy. */
const ofWorker: ReadonlySet<string> = new Set<ErrorCode>(['token-rejected', 'unauthenticated', 'foreign-host']);

function told(cell: string, { code, message }: HttpRefusal): string {
  if (!ofCredential.has(code)) return `The ToolHost of the cell ${cell} refuses this worker (${code}: ${message}).`;
  return `The ToolHost of the cell ${cell} does not take this worker's credential, as when it was revoked (${code}: ${message}). Make another token of the scope worker, and give it to the worker.`;
}
