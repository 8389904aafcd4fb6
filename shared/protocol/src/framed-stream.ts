import { Duplex } from 'node:stream';
import { type Frame, type FrameType, frameTypes, maxFramePayloadBytes } from './stdio-frame-codec.js';

/** The multiplexer's side of a {@link FramedStream}. */
export interface FramedStreamLink {
  send(type: FrameType, number: number, payload: Buffer): void;
  /** Asks for a call of `sendSome` when the output has room. */
  wantsToSend(): void;
  gone(): void;
}

/** How many bytes one side may send on a stream before the other has consumed any. */
const windowBytes = 256 * 1024;
const nothing = Buffer.alloc(0);

/** One connection of a `Multiplexer`. @internal */
export class FramedStream extends Duplex {
  readonly #link: FramedStreamLink;
  #sent = 0;
  #received = 0;
  #silentLooks = 0;
  /** The rest of the chunk being written, and its callback. */
  #outgoing: { bytes: Buffer; done: () => void } | undefined;
  #maySend = windowBytes;
  #mayReceive = windowBytes;
  /** Bytes consumed but not yet credited to the other side. */
  #owed = 0;
  #lost = false;

  constructor(link: FramedStreamLink) {
    super();
    this.#link = link;
    // The connection's user has listeners of its own; without any, errors are ignored.
    this.on('error', () => undefined);
  }

  sendOpen(): void {
    this.#send(frameTypes.open);
  }

  sendAlive(): void {
    this.#send(frameTypes.alive);
  }

  /**
   * Counts the checks, this one included, since something was received. Checks are counted rather than time, so that a
   * process that was paused first reads what has arrived meanwhile.
   */
  lookForSilence(): number {
    this.#silentLooks += 1;
    return this.#silentLooks;
  }

  /** Ends without notifying the other side, which is unreachable. */
  lose(reason: Error): void {
    this.#lost = true;
    this.destroy(reason);
  }

  /** Sends at most one frame; returns whether more may be sent now. */
  sendSome(): boolean {
    if (this.#outgoing === undefined || this.#maySend === 0) return false;
    const { bytes, done } = this.#outgoing;
    const size = Math.min(bytes.length, this.#maySend, maxFramePayloadBytes);
    this.#maySend -= size;
    this.#outgoing = size < bytes.length ? { bytes: bytes.subarray(size), done } : undefined;
    this.#send(frameTypes.data, bytes.subarray(0, size));
    if (this.#outgoing === undefined) done();
    return this.#outgoing !== undefined && this.#maySend > 0;
  }

  receive(frame: Frame): void {
    if (frame.type === frameTypes.reset) {
      this.lose(new Error('the other side of the door reset the connection'));
      return;
    }
    if (frame.number !== this.#received) {
      this.destroy(new Error('a part of the connection was lost on its way through the door'));
      return;
    }
    this.#received = (this.#received + 1) >>> 0;
    this.#silentLooks = 0;
    if (frame.type === frameTypes.data) this.#receiveData(frame.payload);
    else if (frame.type === frameTypes.end) this.push(null);
    else if (frame.type === frameTypes.credit) this.#receiveCredit(frame.payload);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (chunk.length === 0) {
      done();
      return;
    }
    this.#outgoing = { bytes: chunk, done };
    this.#link.wantsToSend();
  }

  override _final(done: () => void): void {
    this.#send(frameTypes.end);
    done();
  }

  override _read(): void {
    this.#credit();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.#lost && !(this.readableEnded && this.writableFinished)) this.#send(frameTypes.reset);
    this.#outgoing = undefined;
    this.#link.gone();
    done(error);
  }

  #receiveData(payload: Buffer): void {
    if (payload.length > this.#mayReceive || this.readableEnded) {
      this.destroy(new Error('the other side of the door sent more than it may'));
      return;
    }
    this.#mayReceive -= payload.length;
    this.#owed += payload.length;
    // Backpressure: while the buffer is full, no credit is given.
    if (this.push(payload)) this.#credit();
  }

  #receiveCredit(payload: Buffer): void {
    if (payload.length !== 4) return;
    this.#maySend = Math.min(this.#maySend + payload.readUInt32BE(0), windowBytes);
    if (this.#outgoing !== undefined) this.#link.wantsToSend();
  }

  #credit(): void {
    if (this.#owed < windowBytes / 4 || this.destroyed) return;
    const payload = Buffer.alloc(4);
    payload.writeUInt32BE(this.#owed);
    this.#mayReceive += this.#owed;
    this.#owed = 0;
    this.#send(frameTypes.credit, payload);
  }

  #send(type: FrameType, payload: Buffer = nothing): void {
    const number = this.#sent;
    this.#sent = (this.#sent + 1) >>> 0;
    this.#link.send(type, number, payload);
  }
}
