import type { Command, Option } from 'commander';
import { describe, expect, test } from '@jest/globals';
import { commandsOf, wholeProgram } from './support/program.js';

/** Words that are right for a command and lack nothing. */
const enough = (command: Command) => [
  ...command.registeredArguments.filter(({ required }) => required).map((argument) => argument.argChoices?.[0] ?? 'P1'),
  ...command.options.filter(({ mandatory }) => mandatory).flatMap((option) => [longOf(option), valueFor(option)]),
];
const longOf = (option: Option) => option.long ?? '';

/** A value that an option takes, by what its reader says of others. */
function valueFor(option: Option): string {
  const tried = [...(option.argChoices ?? []), '1', '1d', 'a=b', '2026-11-21', 'running', 'turn.failed', 'http://a'];
  const value = tried.find((text) => {
    try {
      option.parseArg?.(text, undefined);
      return true;
    } catch {
      return false;
    }
  });
  return value ?? '';
}

const given = (option: Option) => [longOf(option), ...(option.required || option.optional ? [valueFor(option)] : [])];

/** Subcommands of commands with options of their own: `show` of `messages`. */
const program = wholeProgram();
const below = commandsOf(program).flatMap(({ path, command }) => {
  const group = command.parent;
  return group?.parent == null ? [] : group.options.map((option) => ({ path, command, group, option }));
});

test('there are subcommands of commands with options', () => {
  expect(new Set(below.map(({ path }) => path)).size).toBeGreaterThan(5);
});

describe.each(below)('$path $option.long', ({ path, command, group, option }) => {
  const own = command.options.some(({ long }) => long === option.long);
  const [, name = ''] = path.split(' ');
  const run = (...words: string[]) => program.parseAsync(words, { from: 'user' });

  test(own ? 'is its own' : 'is refused', async () => {
    const words = [group.name(), name, ...enough(command)];
    await run(...words);
    const after = run(...words, ...given(option));
    if (own) await after;
    else await expect(after).rejects.toMatchObject({ code: 'commander.unknownOption' });
  });

  test('is refused before its name', async () => {
    const ran = run(group.name(), ...given(option), name, ...enough(command));
    await expect(ran).rejects.toMatchObject({ code: 'commander.unknownOption' });
  });
});
