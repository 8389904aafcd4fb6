import type { Caller, CircuitFailure, CircuitOpened } from '@suzumio/store/models/circuits';
import type { ToolhostContext } from '../context.js';
import { callLeaseMs } from './call-lease.js';

/** An open circuit: the model is not called now. */
export interface OpenCircuit {
  untilMs: number;
  lastError: string;
}

/**
 * One call's side of the circuit breaker of a model. After a failure the circuit is open; then it is half open, and one
 * call of the whole cell is its probe.
 */
export class CircuitBreaker {
  /** Since when this call is the half-open probe, if it is. */
  #probeSinceMs: number | undefined;

  constructor(
    private readonly context: ToolhostContext,
    private readonly caller: Caller,
  ) {}

  /** @returns the open circuit, if the model may not be called now */
  async admit(): Promise<OpenCircuit | undefined> {
    const { cell, metrics } = this.context;
    const sinceMs = cell.context.now();
    const admission = await this.#circuits.admit(this.caller, callLeaseMs);
    if (admission.ask) {
      if (admission.probe) this.#probeSinceMs = sinceMs;
      return undefined;
    }
    metrics.modelCalls.inc({ outcome: 'held-back' });
    return admission;
  }

  /** Extends the probe's lease: other calls go on waiting for it. */
  async heartbeat(): Promise<void> {
    if (this.#probeSinceMs !== undefined)
      await this.#circuits.extendProbe(this.caller, callLeaseMs, this.#probeSinceMs);
  }

  /** The model has begun to answer: other calls need not wait for the whole answer. */
  async answering(): Promise<void> {
    if (this.#probeSinceMs !== undefined) await this.#circuits.answering(this.caller);
  }

  /** The model answers, which closes the circuit. A refusal is an answer, too. */
  async close(): Promise<void> {
    if (await this.#circuits.answered(this.caller.circuit)) this.#log('info', {}, 'a model answers again');
  }

  /** The call failed, which opens the circuit. */
  async open(failure: CircuitFailure): Promise<CircuitOpened> {
    const opened = await this.#circuits.failed(this.caller, failure);
    const { opensFor, error } = failure;
    if (opened.first) this.#log('warn', { opensFor, untilMs: opened.untilMs }, `a model does not answer: ${error}`);
    return opened;
  }

  get #circuits() {
    return this.context.cell.catalog.circuits;
  }

  #log(level: 'info' | 'warn', more: object, message: string): void {
    const { circuit, project } = this.caller;
    this.context.logger[level]({ circuit, project, ...more }, message);
  }
}
