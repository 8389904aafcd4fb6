import { once } from 'node:events';
import { homedir } from 'node:os';
import { keepLoopbackDirect } from '@suzumio/runtime/http/proxy-settings';
import type { CliContext, Output } from './cli-context.js';
import { interruptionOf } from './interruption.js';
import { runCli } from './program.js';
import { createAsker } from './terminal.js';

/** The conventional exit code of a process that was interrupted. */
const interruptedCode = 130;

function output(stream: NodeJS.WriteStream): Output {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // The reader of our output has closed it, as `head` does.
    process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
  const { FORCE_COLOR = '', NO_COLOR = '' } = process.env;
  return {
    write: (text) => void stream.write(text),
    drained: async () => {
      if (stream.writableNeedDrain) await once(stream, 'drain');
    },
    isTerminal: stream.isTTY,
    colors: FORCE_COLOR !== '' ? FORCE_COLOR !== '0' : stream.isTTY && NO_COLOR === '' && process.env.TERM !== 'dumb',
    get columns() {
      // A terminal that does not know its width says 0.
      return stream.isTTY && stream.columns > 0 ? stream.columns : undefined;
    },
  };
}

keepLoopbackDirect(process.env);

const interruption = interruptionOf(process, {
  now: () => performance.now(),
  end: () => process.exit(interruptedCode),
});

const asker = createAsker(process.stdin, process.stderr, interruption.signal);
const context: CliContext = {
  env: process.env,
  homeDir: homedir(),
  out: output(process.stdout),
  err: output(process.stderr),
  self: process.env.npm_lifecycle_event === undefined ? 'suzumio' : 'npx suzumio',
  interrupted: interruption.signal,
  onInsistence: interruption.onInsistence,
  ask: process.stdin.isTTY && process.stderr.isTTY ? (question) => asker.ask(question) : undefined,
  now: Date.now,
  timeZone: undefined,
};

process.exitCode = await runCli(process.argv.slice(2), context);
asker.close();
