import { constrainedMemory } from 'node:process';
import { totalmem } from 'node:os';
import type { Request } from 'express';
import { maxChatBytes } from '@suzumio/shared/protocol/model-chat';
import { BodyGate, type BodyGateLimits } from './body-gate.js';
import { announcedBytes, receiveBody } from './receive-body.js';

/** What of this process's memory bodies may have. */
const share = 1 / 8;
const leastBytes = 3 * maxChatBytes;
const mostBytes = 512 * 1024 * 1024;

/** What bodies may have together on this machine, or within what this process was given of it. */
function roomBytes(): number {
  const memory = Math.min(totalmem(), constrainedMemory() || Infinity);
  return Math.min(mostBytes, Math.max(leastBytes, memory * share));
}

/** Takes the bodies of runners' requests, as {@link BodyGate} has room for them. */
export class RunnerBodies {
  readonly #gate: BodyGate;

  /** Our own runner asks one thing at a time, and its door lets 16 pass. */
  constructor(limits: Partial<BodyGateLimits> = {}) {
    this.#gate = new BodyGate({
      attemptBytes: maxChatBytes,
      totalBytes: roomBytes(),
      attemptRequests: 16,
      ...limits,
    });
  }

  /**
   * The body of a request whose token was found good.
   *
   * @param over aborted when the request is answered or gone: its room is given back then
   * @throws SuzumioError `attempt-busy`, `body-too-large`, `invalid-request`, `request-too-slow`
   */
  async receive(
    request: Request,
    attempt: string,
    maxBytes: number,
    over: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = announcedBytes(request, maxBytes);
    await this.#gate.enter(attempt, bytes, over);
    return receiveBody(request, bytes);
  }
}
