import type { Request } from 'express';
import { memoryShares } from '@suzumio/protocol/memory-shares';
import { maxChatBytes } from '@suzumio/protocol/model-chat';
import { memoryLimitBytes } from '@suzumio/protocol/process-memory';
import { BodyGate, type BodyGateLimits, type BodySender } from './body-gate.js';
import { announcedBytes, receiveBody } from './receive-body.js';

const leastBytes = 3 * maxChatBytes;
const mostBytes = 512 * 1024 * 1024;

/** The memory for all bodies, from this process's own limit. */
export function roomBytes(memoryBytes = memoryLimitBytes()): number {
  return Math.min(mostBytes, Math.max(leastBytes, memoryBytes * memoryShares.bodies));
}

/** Bodies up to this length are short: a message, a call that publishes, the first model call of a turn. */
const shortBytes = 65_536;
/** The project's own runner makes one request at a time, and its door passes 16. */
const attemptRequests = 16;

/**
 * Receives the bodies of runners' requests as room permits. Short ones have room of their own: a long model call holds
 * its room until its provider has answered, and mail must not wait for that.
 */
export class RunnerBodies {
  readonly #long: BodyGate;
  readonly #short: BodyGate;

  constructor(limits: Partial<BodyGateLimits> = {}) {
    const totalBytes = limits.totalBytes ?? roomBytes();
    this.#long = new BodyGate({ attemptBytes: maxChatBytes, attemptRequests, totalBytes, ...limits });
    this.#short = new BodyGate({ attemptBytes: attemptRequests * shortBytes, attemptRequests, totalBytes });
  }

  /**
   * The body of an authorized request.
   *
   * @param over aborted when the request is answered or its sender disconnects: its room is released then
   * @throws SuzumioError `attempt-busy`, `body-too-large`, `invalid-request`, `request-too-slow`
   */
  async receive(
    request: Request,
    of: BodySender,
    maxBytes: number,
    over: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = announcedBytes(request, maxBytes);
    if (bytes === undefined) return this.#receiveUnannounced(request, of, maxBytes, over);
    await (bytes <= shortBytes ? this.#short : this.#long).enter(of, bytes, over);
    return receiveBody(request, { roomBytes: bytes });
  }

  /** Receives a body of undeclared length. It begins as a short one; a longer one waits for the maximum. */
  async #receiveUnannounced(
    request: Request,
    of: BodySender,
    maxBytes: number,
    over: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const beginning = await this.#short.enter(of, shortBytes, over);
    let room = beginning;
    const moreRoom = async () => {
      room = await this.#long.enter(of, maxBytes, over);
      beginning.shrinkTo(0);
    };
    const body = await receiveBody(request, { roomBytes: shortBytes, maxBytes, moreRoom });
    room.shrinkTo(body.length);
    return body;
  }
}
