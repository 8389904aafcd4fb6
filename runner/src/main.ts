import { defaultTurnDir } from '@suzumio/protocol/door';
import { compareTask, taskVariable } from '@suzumio/protocol/repository-diff';
import { exitCodeOf } from './exit-code.js';
import { runTurn } from './run-turn.js';

const { env, stderr } = process;

const turnDir = env['SUZUMIO_TURN_DIR'] ?? defaultTurnDir;
const write = (text: string | Buffer) => stderr.write(text);

const code = await exitCodeOf('suzumio-runner', stderr, async () => {
  if (env[taskVariable] !== compareTask) return runTurn({ turnDir, self: process, env, write });
  // Loaded on demand: no turn needs it.
  const { runComparison } = await import('./compare/run-comparison.js');
  return runComparison({ turnDir, env, write });
});
// An open stdin, or a connection that is still closing, must not keep an ended turn alive.
process.exit(code);
