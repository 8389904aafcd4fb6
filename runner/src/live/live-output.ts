import { StringDecoder } from 'node:string_decoder';
import {
  type LiveOutput as Piece,
  liveAnswer,
  livePath,
  type LiveReport,
  maxLiveChars,
  maxLivePieces,
} from '@suzumio/protocol/live';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import type { Connector } from '../door/connector.js';
import { doorHttp } from '../door/exchange.js';

/** Sends a report. Returns whether anybody follows; undefined where the door takes no reports. */
export type SendReport = (report: LiveReport) => Promise<boolean | undefined>;

/** The newest output that is kept until it is sent, and the most of one report. */
const mostBytes = maxLiveChars - 1024;
/** How often reports are sent, and how often it is asked whether any are wanted. */
const reportEveryMs = 100;
const askEveryMs = 1_000;
const sendWithinMs = 10_000;
const mostPieces = maxLivePieces / 2;

interface Printed {
  readonly step: string;
  readonly stream: Piece['stream'];
  readonly bytes: Buffer;
}

/**
 * Tells followers of a turn what its commands print, as far as there are any: else the door is asked once a second while a
 * command prints, and the newest output is kept for those who come. Nothing waits for it, and it never fails.
 */
export class LiveOutput {
  #printed: Printed[] = [];
  #bytes = 0;
  #skipped = 0;
  #isFollowed = false;
  #isWanted = true;
  #timer: NodeJS.Timeout | undefined;
  /** What was sent of a character in parts, by step and stream. */
  readonly #decoders = new Map<string, StringDecoder>();

  constructor(private readonly send: SendReport) {}

  /** Takes what a command of a step prints. */
  add(step: string, stream: Piece['stream'], chunk: Buffer): void {
    if (!this.#isWanted) return;
    const kept = chunk.length > mostBytes ? Buffer.from(chunk.subarray(-mostBytes)) : chunk;
    this.#skipped += chunk.length - kept.length;
    this.#printed.push({ step, stream, bytes: kept });
    this.#bytes += kept.length;
    if (kept.length < chunk.length) this.#decoders.clear();
    while (this.#bytes > mostBytes || this.#printed.length > mostPieces) this.#drop(this.#printed.shift());
    this.#schedule();
  }

  /** A step has ended, which is on record: what nobody was told of it is not to be told any more. */
  ended(step: string): void {
    if (this.#isFollowed) return;
    for (const one of this.#printed) if (one.step === step) this.#bytes -= one.bytes.length;
    this.#printed = this.#printed.filter((one) => one.step !== step);
    if (this.#printed.length > 0) return;
    this.#skipped = 0;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #drop(one: Printed | undefined): void {
    this.#bytes -= one?.bytes.length ?? 0;
    this.#skipped += one?.bytes.length ?? 0;
    this.#decoders.clear();
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.#report(), this.#isFollowed ? reportEveryMs : askEveryMs).unref();
  }

  async #report(): Promise<void> {
    const report = this.#isFollowed ? this.#taken() : { skipped: 0, output: [] };
    const followed = await this.send(report).catch(() => false);
    this.#isWanted = followed !== undefined;
    this.#isFollowed = followed === true;
    this.#timer = undefined;
    if (!this.#isWanted) this.#printed = [];
    if (this.#printed.length > 0) this.#schedule();
  }

  #taken(): LiveReport {
    const output: Piece[] = [];
    for (const { step, stream, bytes } of this.#printed) {
      const key = `${step} ${stream}`;
      const decoder = this.#decoders.get(key) ?? new StringDecoder('utf8');
      if (this.#decoders.size > mostPieces) this.#decoders.clear();
      this.#decoders.set(key, decoder);
      const text = decoder.write(bytes);
      const last = output.at(-1);
      if (last?.step === step && last.stream === stream)
        output[output.length - 1] = { ...last, text: last.text + text };
      else output.push({ step, stream, text });
    }
    const skipped = this.#skipped;
    [this.#printed, this.#bytes, this.#skipped] = [[], 0, 0];
    return { skipped, output };
  }
}

/** Reports at the door of a turn. */
export function reportsTo(connector: Connector, { token }: Pick<RunnerTurnInput, 'token'>): SendReport {
  const http = doorHttp(connector);
  return async (json) => {
    const signal = AbortSignal.timeout(sendWithinMs);
    const answer = await http.ask({ method: 'POST', path: livePath, token, json, signal });
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    if (answer.status >= 300) return undefined;
    const parsed = liveAnswer.safeParse(JSON.parse(Buffer.concat(chunks).toString()));
    return parsed.success ? parsed.data.followed : undefined;
  };
}
