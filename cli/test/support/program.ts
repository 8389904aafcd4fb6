import type { Command } from 'commander';
import type { CliContext } from '@suzumio/cli/cli-context';
import { buildProgram } from '@suzumio/cli/program';

/** A command that does something, and how it is typed. */
export interface NamedCommand {
  readonly path: string;
  readonly command: Command;
}

const nothing = {
  write: () => undefined,
  drained: () => Promise.resolve(),
  isTerminal: false,
  colors: false,
  columns: undefined,
};

/** Where a command hears, sees and says nothing. */
export const silentContext: CliContext = {
  env: {},
  homeDir: '/nowhere',
  out: nothing,
  err: nothing,
  self: 'suzumio',
  interrupted: new AbortController().signal,
  ask: undefined,
  now: () => 0,
  timeZone: 'UTC',
};

/** The program with all commands, none of which does anything. */
export function wholeProgram(): Command {
  return buildProgram(silentContext, () => () => Promise.resolve());
}

/** Every command that is shown and does something. */
export function commandsOf(command: Command, above: readonly string[] = []): NamedCommand[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .flatMap((one) => {
      const path = [...above, one.name()];
      const acts = one.registeredArguments.length > 0 || one.commands.length === 0;
      return [...(acts ? [{ path: path.join(' '), command: one }] : []), ...commandsOf(one, path)];
    });
}
