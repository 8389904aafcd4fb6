import { defaultTurnDir } from '@suzumio/protocol/door';
import { exitCodeOf } from './exit-code.js';
import { runTurn } from './run-turn.js';

const { env, stderr } = process;

const code = await exitCodeOf('suzumio-runner', stderr, () =>
  runTurn({
    turnDir: env['SUZUMIO_TURN_DIR'] ?? defaultTurnDir,
    self: process,
    env,
    write: (text) => stderr.write(text),
  }),
);
// An open stdin, or a connection that is still closing, must not keep an ended turn alive.
process.exit(code);
