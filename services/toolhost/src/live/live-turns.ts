import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { LiveReport } from '@suzumio/protocol/live';
import { knownSecrets, type RedactedText } from '@suzumio/runtime/observability/redacted-text';
import { type LiveFollower, LiveTurn } from './live-turn.js';

/** The turn that is followed. */
export interface FollowedTurn {
  readonly project: string;
  readonly turn: string;
}

export interface LiveBounds {
  /** How many bytes of memory are kept of one turn; only of turns that are followed. */
  readonly turnBytes: number;
  readonly followersOfTurn: number;
  /** Together. */
  readonly followers: number;
}

const usualBounds: LiveBounds = { turnBytes: 64 * 1024, followersOfTurn: 16, followers: 128 };

/** Receives the text of an answer while it comes. */
export interface LiveText {
  write(text: string): void;
  end(): void;
}

/**
 * What running turns do, for those who follow them now: in memory, bounded, and nothing while nobody follows. Each process
 * has its own.
 */
export class LiveTurns {
  readonly #turns = new Map<string, LiveTurn>();
  readonly #bounds: LiveBounds;
  #followers = 0;

  constructor(bounds: Partial<LiveBounds> = {}) {
    this.#bounds = { ...usualBounds, ...bounds };
  }

  /** How many bytes of memory are taken. */
  get bytes(): number {
    return [...this.#turns.values()].reduce((sum, { size }) => sum + size, 0);
  }

  isFollowed(of: FollowedTurn): boolean {
    return this.#turns.has(keyOf(of));
  }

  /**
   * Follows a turn from now on, until the attempt that runs is over.
   *
   * @param secrets are kept from all that follow it
   * @throws SuzumioError `live-full`
   */
  follow(of: FollowedTurn, secrets: () => readonly string[]): LiveFollower {
    const key = keyOf(of);
    const { turnBytes, followers, followersOfTurn } = this.#bounds;
    const known = this.#turns.get(key);
    if (this.#followers >= followers || (known?.followers ?? 0) >= followersOfTurn) {
      throw new SuzumioError(
        'live-full',
        `As many follow ${known && known.followers >= followersOfTurn ? 'this turn' : 'running turns'} as may at a time; try again later.`,
      );
    }
    const turn = known ?? new LiveTurn(knownSecrets(secrets()), turnBytes);
    this.#turns.set(key, turn);
    this.#followers += 1;
    return turn.follow(() => {
      this.#followers -= 1;
      if (turn.followers === 0 && this.#turns.get(key) === turn) this.#turns.delete(key);
    });
  }

  /** The text of a model's answer to the question of a step, from its beginning. */
  text(of: FollowedTurn, step: string): LiveText {
    const key = keyOf(of);
    let begun = false;
    let redacting: { turn: LiveTurn; text: RedactedText } | undefined;
    const tell = (say: (text: RedactedText) => string) => {
      const turn = this.#turns.get(key);
      if (turn === undefined) redacting = undefined;
      else {
        if (redacting?.turn !== turn) redacting = { turn, text: turn.text(begun) };
        turn.addText({ kind: 'model', step, text: say(redacting.text) });
      }
      begun = true;
    };
    return {
      write: (text) => tell((redacted) => redacted.write(text)),
      end: () => {
        if (redacting) tell((redacted) => redacted.end());
      },
    };
  }

  /** Takes what a turn's commands have printed. */
  output(of: FollowedTurn, { output, skipped }: LiveReport): void {
    this.#turns.get(keyOf(of))?.output(output, skipped);
  }

  /** The attempt of a turn is over. */
  end(of: FollowedTurn): void {
    const key = keyOf(of);
    this.#turns.get(key)?.end('over');
    this.#turns.delete(key);
  }

  /** Tells nothing any more: turns may go on elsewhere. */
  close(): void {
    for (const turn of this.#turns.values()) turn.end('cut');
    this.#turns.clear();
  }
}

function keyOf({ project, turn }: FollowedTurn): string {
  return `${project} ${turn}`;
}
