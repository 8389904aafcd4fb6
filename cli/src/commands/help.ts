import type { Command } from 'commander';

/** A command line as a person would type it, without `suzumio`, and what it does where that is not plain. */
export type Example = readonly [command: string, does?: string];

/** Adds examples to a command's help. */
export function examples(command: Command, ...lines: readonly Example[]): Command {
  const width = Math.max(...lines.map(([line]) => line.length));
  const shown = lines.map(
    ([line, does]) => `  suzumio ${does === undefined ? line : `${line.padEnd(width)}   ${does}`}`,
  );
  return command.addHelpText('after', `\nExamples:\n${shown.join('\n')}`);
}
