import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  runnerProtocol,
  type RunnerTurnInput,
  runnerTurnInput,
  type RunnerTurnOutput,
  runnerTurnOutput,
} from '@suzumio/protocol/runner';
import * as z from 'zod';
import { exitCodes, messageOf, TurnFailure } from './turn-failure.js';

/** Reads and checks `input.json`. Throws a {@link TurnFailure} that says what is wrong with it. */
export async function readTurnInput(turnDir: string): Promise<RunnerTurnInput> {
  const path = join(turnDir, 'input.json');
  const refuse = (reason: string): TurnFailure => new TurnFailure(`${path}: ${reason}`, exitCodes.inputInvalid);
  let document: unknown;
  try {
    document = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw refuse(messageOf(error));
  }
  const input = runnerTurnInput.safeParse(document);
  if (!input.success) throw refuse(`is not a turn's input\n${z.prettifyError(input.error)}`);
  const { protocol = runnerProtocol } = input.data;
  if (protocol > runnerProtocol) {
    throw refuse(`is of protocol ${protocol}, and this runner speaks ${runnerProtocol}: use a newer runner image`);
  }
  return input.data;
}

/** Writes `output.json` atomically: readers see all of it or nothing. */
export async function writeTurnOutput(turnDir: string, output: RunnerTurnOutput): Promise<void> {
  const checked = runnerTurnOutput.safeParse(output);
  if (!checked.success) throw new TurnFailure(`the turn's output is not valid\n${z.prettifyError(checked.error)}`);
  const path = join(turnDir, 'output.json');
  await writeFile(`${path}.tmp`, JSON.stringify(checked.data));
  await rename(`${path}.tmp`, path);
}
