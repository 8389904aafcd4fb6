// Doors as a worker opens them, of two turns: one at the unix socket `FUZZ_DOOR`, and at `FUZZ_FRAMES` for connections that
// stand for the attached standard input and output of a container; one for a shim.
import { createServer } from 'node:net';
import process from 'node:process';
import { Door } from '../../../services/turn-worker/dist/door/door.js';
import { keepConnections } from '../../../services/turn-worker/dist/toolhost/kept-connections.js';
import { silentLogger } from '../../../shared/runtime/dist/observability/logger.js';
import { Multiplexer } from '../../../shared/protocol/dist/stdio-frames.js';

const { FUZZ_DOOR, FUZZ_FRAMES, FUZZ_SHIM_DOOR, RUNNER_URL, SHIM_TOKEN, TOOL_TOKEN } = process.env;
const { exchange } = keepConnections(RUNNER_URL);
const steps = { pass: (_route, send) => send() };
const doorOf = (token) => new Door({ runnerUrl: RUNNER_URL, exchange, steps, token, logger: silentLogger() });
const door = doorOf(TOOL_TOKEN);
await door.listen(FUZZ_DOOR);
await doorOf(SHIM_TOKEN).listen(FUZZ_SHIM_DOOR);
const frames = createServer((connection) => {
  const served = new Multiplexer({ input: connection, output: connection, onStream: (stream) => door.serve(stream) });
  connection.on('close', () => served.close()).on('error', () => undefined);
});
frames.listen(FUZZ_FRAMES, () => process.stdout.write('ready\n'));
