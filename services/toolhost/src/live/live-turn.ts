import type { LiveFrame, LiveOutput } from '@suzumio/protocol/live';
import { type KnownSecrets, RedactedText } from '@suzumio/runtime/observability/redacted-text';

interface Kept {
  readonly frame: LiveFrame;
  /** How much of the turn's text came before it, in bytes. */
  readonly before: number;
  readonly size: number;
}

/** How many bytes of memory a frame takes besides its text, and the longest text of one. */
const frameSize = 128;
const maxChars = 4 * 1024;
/** How many commands' outputs are read at a time. */
const maxOutputs = 32;

/** What is kept for the followers of one turn: its newest frames, as far as there is room. */
export class LiveTurn {
  readonly #kept: Kept[] = [];
  readonly #outputs = new Map<string, RedactedText>();
  readonly #followers = new Set<LiveFollower>();
  /** The number of the first kept frame. */
  #first = 0;
  #told = 0;
  #size = 0;
  #end: 'over' | 'cut' | undefined;

  constructor(
    private readonly secrets: KnownSecrets,
    private readonly mostBytes: number,
  ) {}

  /** How many bytes of memory it takes. */
  get size(): number {
    return this.#size;
  }

  get followers(): number {
    return this.#followers.size;
  }

  /** Whether its attempt is over, or nothing more is told of it here; undefined while it goes on. */
  get ended(): 'over' | 'cut' | undefined {
    return this.#end;
  }

  /** A follower of what comes from now on, so that one who comes again is told nothing twice. */
  follow(onClose: () => void): LiveFollower {
    const follower = new LiveFollower(this, this.#first + this.#kept.length, this.#told, () => {
      if (this.#followers.delete(follower)) onClose();
    });
    this.#followers.add(follower);
    return follower;
  }

  /** Removes secrets from the pieces of an answer whose beginning may have gone by. */
  text(midway: boolean): RedactedText {
    return new RedactedText(this.secrets, midway);
  }

  /** Takes what commands printed. After something was left out, what comes may begin with half a secret. */
  output(pieces: readonly LiveOutput[], skipped: number): void {
    if (skipped > 0) {
      this.#outputs.clear();
      this.add({ kind: 'gap', bytes: skipped });
    }
    for (const { step, stream, text } of pieces) {
      const key = `${step} ${stream}`;
      const redacting = this.#outputs.get(key) ?? this.text(skipped > 0);
      this.#outputs.delete(key);
      this.#outputs.set(key, redacting);
      const [oldest] = this.#outputs.keys();
      if (this.#outputs.size > maxOutputs && oldest !== undefined) this.#outputs.delete(oldest);
      this.addText({ kind: 'output', step, stream, text: redacting.write(text) });
    }
  }

  addText(frame: Exclude<LiveFrame, { kind: 'gap' }>): void {
    for (let at = 0; at < frame.text.length; at += maxChars) {
      this.add({ ...frame, text: frame.text.slice(at, at + maxChars) });
    }
  }

  add(frame: LiveFrame): void {
    const size = frameSize + ('text' in frame ? 2 * frame.text.length : 0);
    this.#kept.push({ frame, before: this.#told, size });
    this.#told += 'text' in frame ? Buffer.byteLength(frame.text) : 0;
    this.#size += size;
    while (this.#size > this.mostBytes) {
      this.#size -= this.#kept.shift()?.size ?? 0;
      this.#first += 1;
    }
    for (const follower of this.#followers) follower.wake();
  }

  end(how: 'over' | 'cut'): void {
    this.#end = how;
    for (const follower of this.#followers) follower.wake();
  }

  /** What is kept from a place on, and the place after it. */
  from(number: number, told: number): { frames: LiveFrame[]; number: number; told: number } {
    const from = Math.max(number, this.#first);
    const kept = this.#kept.slice(from - this.#first);
    const lost = (kept[0]?.before ?? this.#told) - told;
    const gap: LiveFrame[] = from > number ? [{ kind: 'gap', bytes: Math.max(lost, 0) }] : [];
    const frames = [...gap, ...kept.map(({ frame }) => frame)].reduce<LiveFrame[]>(joined, []);
    return { frames, number: this.#first + this.#kept.length, told: this.#told };
  }
}

/** One who follows a turn. What it does not take in time is lost to it, and takes no memory. */
export class LiveFollower {
  #awake = Promise.withResolvers<undefined>();
  #isClosed = false;

  constructor(
    private readonly turn: LiveTurn,
    private number: number,
    private told: number,
    private readonly onClose: () => void,
  ) {}

  /** The next frames, once there are some; undefined at the end. */
  async next(): Promise<LiveFrame[] | undefined> {
    while (!this.#isClosed) {
      this.#awake = Promise.withResolvers<undefined>();
      const { frames, number, told } = this.turn.from(this.number, this.told);
      [this.number, this.told] = [number, told];
      if (frames.length > 0) return frames;
      if (this.turn.ended) return undefined;
      await this.#awake.promise;
    }
    return undefined;
  }

  /** Whether the attempt is over. */
  get isOver(): boolean {
    return this.turn.ended === 'over';
  }

  wake(): void {
    this.#awake.resolve(undefined);
  }

  close(): void {
    this.#isClosed = true;
    this.onClose();
    this.wake();
  }
}

/** Joins texts of the same source. */
function joined(frames: LiveFrame[], frame: LiveFrame): LiveFrame[] {
  const last = frames.at(-1);
  if (last?.kind === 'gap' && frame.kind === 'gap') {
    frames[frames.length - 1] = { kind: 'gap', bytes: last.bytes + frame.bytes };
  } else if (last !== undefined && 'text' in last && 'text' in frame && sourceOf(last) === sourceOf(frame)) {
    frames[frames.length - 1] = { ...last, text: last.text + frame.text };
  } else frames.push(frame);
  return frames;
}

function sourceOf(frame: Exclude<LiveFrame, { kind: 'gap' }>): string {
  return frame.kind === 'model' ? `model ${frame.step}` : `${frame.stream} ${frame.step}`;
}
