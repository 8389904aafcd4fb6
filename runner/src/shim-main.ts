import { defaultTurnDir } from '@suzumio/protocol/door';
import { exitCodeOf } from './exit-code.js';
import { runShim } from './shim/run-shim.js';

const { argv, env, stderr } = process;

const code = await exitCodeOf('suzumio-shim', stderr, () =>
  runShim({
    turnDir: env['SUZUMIO_TURN_DIR'] ?? defaultTurnDir,
    command: argv.slice(2),
    self: process,
    log: (line) => stderr.write(`suzumio-shim: ${line}\n`),
  }),
);
// The listener and the door must not keep an ended turn alive.
process.exit(code);
