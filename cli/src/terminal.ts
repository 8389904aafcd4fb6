import { createInterface, type Interface } from 'node:readline';
import { UsageError } from './usage-error.js';

/** Asks a person at a terminal. */
export interface Asker {
  /** @throws UsageError when the input ends, or the person presses Ctrl-C */
  ask(question: string): Promise<string>;
  /** Lets the process end. */
  close(): void;
}

/**
 * Questions go to `output`; lines that were typed ahead answer those that come later. When `interrupted` is aborted, no
 * question is answered any more.
 */
export function createAsker(
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
  interrupted: AbortSignal,
): Asker {
  const ahead: string[] = [];
  let waiting: { answer: (line: string) => void; fail: (error: Error) => void } | undefined;
  let terminal: Interface | undefined;
  let ended = false;

  function open(): Interface {
    const opened = createInterface({ input, output, signal: interrupted });
    opened.on('line', (line) => {
      if (waiting) waiting.answer(line);
      else ahead.push(line);
      waiting = undefined;
    });
    opened.on('close', () => {
      ended = true;
      waiting?.fail(nothingDone());
    });
    return opened;
  }

  return {
    ask: (question) =>
      new Promise((answer, fail) => {
        terminal ??= open();
        const line = ahead.shift();
        if (line === undefined && ended) {
          fail(nothingDone());
          return;
        }
        terminal.setPrompt(question);
        terminal.prompt();
        if (line === undefined) waiting = { answer, fail };
        else answer(line);
      }),
    close: () => terminal?.close(),
  };
}

const nothingDone = () => new UsageError('Nothing was done.');
