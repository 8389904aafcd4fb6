import { followTurn, type LiveFrame, SuzumioError } from '@suzumio/sdk/client';
import { useEffect, useState } from 'react';
import { api, publicPath, wordsOf } from '../api.js';

/** What a step says or prints now: the end of it. */
export interface LivePiece {
  step: string;
  kind: 'model' | 'output';
  text: string;
  /** Whether something before the text is not shown. */
  isCut: boolean;
}

/** What is seen of a running turn, none of it on record yet. */
export interface LiveTurn {
  pieces: readonly LivePiece[];
  /** Grows with whatever comes. */
  size: number;
  /** Why nothing is seen. */
  lost: string | undefined;
}

const nothing: LiveTurn = { pieces: [], size: 0, lost: undefined };

const mostPieces = 8;
const mostChars = 8_000;
const againMs = 1_000;
const refusedMs = 15_000;

/**
 * Follows a running turn. One tab of a browser does so at a time, whatever turn it shows: the one that was looked at last. So
 * a browser has this stream and that of events at the most. Where there are no locks, the tabs that are looked at do.
 */
export function useLiveTurn(project: string, turn: string, isRunning: boolean): LiveTurn {
  const [seen, setSeen] = useState(nothing);
  useEffect(() => {
    if (!isRunning) return undefined;
    let own: AbortController | undefined;
    const begin = () => {
      const mine = new AbortController();
      own = mine;
      const end = (lost?: string) => {
        mine.abort();
        if (own !== mine) return;
        own = undefined;
        setSeen({ ...nothing, lost });
      };
      const work = () => read({ project, turn, signal: mine.signal }, setSeen);
      const holding =
        'locks' in navigator
          ? navigator.locks.request(`suzumio${publicPath} live turn`, { steal: true }, work)
          : work();
      holding.then(
        () => end(),
        // Another tab has taken the lock, and reads now.
        () => end('They are shown in the tab that was looked at last.'),
      );
    };
    const look = () => {
      const isSeen = document.visibilityState === 'visible';
      if (isSeen && own === undefined) begin();
      else if (!isSeen && !('locks' in navigator)) own?.abort();
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      const last = own;
      own = undefined;
      last?.abort();
      setSeen(nothing);
    };
  }, [project, turn, isRunning]);
  return seen;
}

/** Reads attempt after attempt, until the turn is over or the signal ends it. */
async function read(
  asked: { project: string; turn: string; signal: AbortSignal },
  show: (seen: LiveTurn) => void,
): Promise<void> {
  const { signal } = asked;
  const isOver = () => signal.aborted;
  while (!isOver()) {
    const seen = new Seen(show, signal);
    let waitMs = againMs;
    try {
      const frames = followTurn(api, asked);
      let next = await frames.next();
      for (; next.done !== true; next = await frames.next()) seen.take(next.value);
      const status = next.value?.status;
      if (status !== undefined && status !== 'queued' && status !== 'running') return;
    } catch (error) {
      if (isOver()) return;
      const isRefused = error instanceof SuzumioError && error.code !== 'server-unreachable';
      if (isRefused) waitMs = refusedMs;
      show({ ...nothing, lost: wordsOf(error) });
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/** What has come over one connection; shown at most once a frame of the screen. */
class Seen {
  #pieces: LivePiece[] = [];
  #size = 0;
  #isDue = false;

  constructor(
    private readonly show: (seen: LiveTurn) => void,
    private readonly signal: AbortSignal,
  ) {}

  take(frame: LiveFrame): void {
    if (frame.kind === 'gap') {
      const last = this.#pieces.at(-1);
      if (last) this.#put({ ...last, text: `${last.text}\n…\n` });
    } else {
      const { step, kind, text } = frame;
      const before = this.#pieces.find((piece) => piece.step === step) ?? { step, kind, text: '', isCut: false };
      this.#put({ ...before, text: before.text + text });
    }
    this.#size += 1;
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      if (!this.signal.aborted) this.show({ pieces: this.#pieces, size: this.#size, lost: undefined });
    });
  }

  #put(piece: LivePiece): void {
    const isCut = piece.isCut || piece.text.length > mostChars;
    const others = this.#pieces.filter(({ step }) => step !== piece.step);
    this.#pieces = [...others, { ...piece, text: piece.text.slice(-mostChars), isCut }].slice(-mostPieces);
  }
}
