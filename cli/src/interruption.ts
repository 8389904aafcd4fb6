/**
 * One press of Ctrl-C may come twice: from the terminal, which tells all processes of it, and from npm, which passes on what it
 * was told.
 */
const onePressMs = 500;

export interface Interruption {
  /** Aborted by the first signal that asks for an end. */
  readonly signal: AbortSignal;
  /** What the next one does, once; the one after that ends the process. */
  readonly onInsistence: (act: () => void) => void;
}

/**
 * Listens for signals that ask for an end.
 *
 * @param end ends the process
 */
export function interruptionOf(
  process: Pick<NodeJS.EventEmitter, 'on'>,
  { now, end }: { now: () => number; end: () => void },
): Interruption {
  const first = new AbortController();
  let insist = end;
  let pressedMs = -Infinity;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      const isSamePress = now() - pressedMs < onePressMs;
      if (isSamePress) return;
      pressedMs = now();
      if (!first.signal.aborted) {
        first.abort();
        return;
      }
      const act = insist;
      insist = end;
      act();
    });
  }
  return {
    signal: first.signal,
    onInsistence: (act) => {
      insist = act;
    },
  };
}
