import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { comparisonInput, comparisonOutcome } from '@suzumio/protocol/repository-diff';
import { runnerProtocol } from '@suzumio/protocol/runner';
import { exitCodes, messageOf, TurnFailure } from '../turn-failure.js';
import { compareCommits } from './compare-commits.js';

/** What a comparison uses of its process. */
export interface ComparisonHost {
  readonly turnDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly write: (text: string) => void;
}

/** Compares the commits that `input.json` names, and writes `output.json`. Throws a {@link TurnFailure}. */
export async function runComparison({ turnDir, env, write }: ComparisonHost): Promise<number> {
  const input = await readInput(join(turnDir, 'input.json'));
  const path = env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';
  const outcome = await compareCommits(input, path, (line) => write(`suzumio-runner: ${line}\n`));
  const output = join(turnDir, 'output.json');
  await writeFile(`${output}.tmp`, JSON.stringify(comparisonOutcome.parse(outcome)));
  await rename(`${output}.tmp`, output);
  return exitCodes.done;
}

async function readInput(file: string) {
  try {
    const input = comparisonInput.parse(JSON.parse(await readFile(file, 'utf8')));
    if (input.protocol > runnerProtocol) throw new Error(`is of protocol ${input.protocol}: use a newer runner image`);
    return input;
  } catch (error) {
    throw new TurnFailure(`${file}: ${messageOf(error)}`, exitCodes.inputInvalid);
  }
}
