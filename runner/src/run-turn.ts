import { connectorTo } from './door/connector.js';
import { defaultPatienceMs, DoorClient } from './door/door-client.js';
import { processControl } from './mock/process-control.js';
import { playTurn } from './mock/play-turn.js';
import { createToolClient } from './tools/tool-client.js';
import { readTurnInput, writeTurnOutput } from './turn-files.js';
import { exitCodes, TurnFailure } from './turn-failure.js';

/** What a turn takes from the process that it runs in. */
export interface TurnHost {
  readonly turnDir: string;
  readonly self: NodeJS.Process;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to the turn's log. */
  readonly write: (text: string | Buffer) => void;
}

/** Runs the turn that `input.json` describes, writes `output.json` and returns the exit code. Throws a {@link TurnFailure}. */
export async function runTurn({ turnDir, self, env, write }: TurnHost): Promise<number> {
  const input = await readTurnInput(turnDir);
  if (input.runner.mode !== 'mock') {
    throw new TurnFailure(
      `runner mode "${input.runner.mode}" is not in this version; use mode "mock"`,
      exitCodes.notSupported,
    );
  }
  const connector = connectorTo(input.controllerUrl, self);
  const patienceMs = input.limits?.doorPatienceMs ?? defaultPatienceMs;
  const door = new DoorClient(connector, { patienceMs, log: (line) => write(`suzumio-runner: ${line}\n`) });
  try {
    const stage = { tools: createToolClient(door, input), control: processControl(self), env, log: write };
    await writeTurnOutput(turnDir, await playTurn(input, stage));
    return exitCodes.done;
  } finally {
    connector.close();
  }
}
