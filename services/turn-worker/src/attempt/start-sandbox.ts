import type { Duplex } from 'node:stream';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import type { Sandbox } from '../engine/turn-engine.js';
import type { AttemptStates } from './attempt-states.js';
import { type GrantedTurn, placeOf } from './granted-turn.js';
import { type Host, requireAllowed, requireUnmoved } from './host.js';
import type { Prepared } from './prepare-attempt.js';

export interface StartSandboxOptions {
  turn: GrantedTurn;
  host: Host;
  states: AttemptStates;
  /** Receives the connections of a door that the sandbox hands over. */
  onConnection: (connection: Duplex) => void;
}

/** Starts what was prepared, and records it. */
export async function startSandbox(
  { engine, sandbox: prepared, workspace, artifacts, home, directory, toolpacks }: Prepared,
  input: RunnerTurnInput,
  { turn, host, states, onConnection }: StartSandboxOptions,
): Promise<Sandbox> {
  const { ref, claim, logger } = turn;
  const { limits } = host;
  // Checked again, because paths may have changed during the preparation.
  const mounts = requireAllowed(host, ref, claim);
  const sandbox = await prepared.start({
    ref: placeOf(turn),
    turnDirectory: directory.path,
    doorDirectory: directory.doorDirectory,
    temporary: directory.temporary,
    workspace: workspace.directory,
    artifacts,
    home: home?.directory,
    toolpacks: toolpacks.length > 0 ? directory.toolpacks : undefined,
    input,
    mounts,
    recheckMounts: () => requireUnmoved(host, ref, claim, mounts),
    onConnection,
    // Above the limit of what is kept, so that a larger file is detected.
    maxFileBytes: workspace.bounds.maxBytes + 2 * limits.maxOutputBytes + 1,
    maxLogBytes: limits.maxLogBytes,
  });
  turn.stopwatch.lap('started');
  const state = { ...turn.state, sandbox: { engine: engine.name, id: sandbox.id } };
  await states.write(state).catch((error: unknown) => {
    // The attempt runs all the same; without the record its sandbox only goes unnoticed if this process dies.
    logger.warn({ err: error }, 'the record of a sandbox could not be written');
  });
  return sandbox;
}
