import { constrainedMemory } from 'node:process';
import { totalmem } from 'node:os';
import type { Request } from 'express';
import { maxChatBytes } from '@suzumio/protocol/model-chat';
import { BodyGate, type BodyGateLimits, type BodySender } from './body-gate.js';
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

/** Up to this length a body is short: a message, a call that publishes, a question at the beginning of a turn. */
const shortBytes = 65_536;
/** Our own runner asks one thing at a time, and its door lets 16 pass. */
const attemptRequests = 16;

/**
 * Takes the bodies of runners' requests, as there is room for them. Short ones have room of their own: a long question
 * keeps its room until its provider has answered, and nobody's mail is to wait for that.
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
   * The body of a request whose token was found good.
   *
   * @param over aborted when the request is answered or gone: its room is given back then
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

  /** A body that does not say how long it is begins as a short one. Where it is not, it waits for the most that it may be. */
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
