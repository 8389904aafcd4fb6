import type { Argument, Command, Option } from 'commander';
import { eventTypes } from '@suzumio/contract/model/event';
import { USER_ID } from '@suzumio/contract/model/project-config';
import { projectStatuses } from '@suzumio/contract/model/project-status';
import { priority } from '@suzumio/protocol/ids';

/** A word that may be completed, and its meaning. */
export interface Candidate {
  readonly word: string;
  readonly meaning?: string;
}

/** Names for completion that only the data directory or a server knows. */
export interface Names {
  projects(): Promise<string[]>;
  agents(project: string): Promise<string[]>;
  /** The newest turns, as `agent:number`. */
  turns(project: string): Promise<string[]>;
  /** Of the project's agents; without a project, of the profiles. */
  roles(project: string): Promise<string[]>;
  /** The teams that agents of the project are in; without a project, those that are registered. */
  teams(project: string): Promise<string[]>;
  /** The newest messages, by their numbers, with what they say. */
  messages(project: string): Promise<Candidate[]>;
  /** The nicknames of profiles. */
  profiles(): Promise<string[]>;
}

/** The completion at the cursor: words, or file names. */
export type Completion = readonly Candidate[] | 'files';

/** The position of the cursor on the command line. */
interface Place {
  readonly command: Command;
  /** Arguments that are given already. */
  readonly given: readonly string[];
  /** The option that still lacks its value. */
  readonly pending: Option | undefined;
}

/** The completion of the last of `words`, which is incomplete. `words` are those after the command's own name. */
export async function complete(program: Command, words: readonly string[], names: Names): Promise<Completion> {
  const { command, given, pending } = placeOf(program, words.slice(0, -1));
  const typed = words.at(-1) ?? '';
  if (pending) return startingWith(typed, await valuesOf(pending, projectOf(command, given), names));
  if (typed.startsWith('-')) return startingWith(typed, optionsOf(command));
  const subcommands = given.length === 0 ? subcommandsOf(command) : [];
  const argument = command.registeredArguments[given.length] ?? variadic(command);
  const values = argument ? await valuesOf(argument, projectOf(command, given), names) : [];
  if (values === 'files') return subcommands.length === 0 ? 'files' : startingWith(typed, subcommands);
  return startingWith(typed, [...subcommands, ...values]);
}

/** The values of options such as `--root` that stand before the place. */
export function optionValue(words: readonly string[], flag: string): string | undefined {
  const index = words.lastIndexOf(flag);
  return index === -1 ? words.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1) : words[index + 1];
}

function placeOf(program: Command, words: readonly string[]): Place {
  let command = program;
  let given: string[] = [];
  let pending: Option | undefined;
  for (const word of words) {
    if (pending) {
      pending = undefined;
      continue;
    }
    if (word.startsWith('-')) {
      pending = optionCalled(command, word);
      continue;
    }
    const subcommand = given.length === 0 ? command.commands.find((one) => isCalled(one, word)) : undefined;
    if (subcommand) command = subcommand;
    else given = [...given, word];
  }
  return { command, given, pending };
}

function isCalled(command: Command, word: string): boolean {
  return command.name() === word || command.aliases().includes(word);
}

/** An option that takes its value from the next word. */
function optionCalled(command: Command, word: string): Option | undefined {
  return [command, ...ancestors(command)]
    .flatMap(({ options }) => options)
    .find((option) => (option.long === word || option.short === word) && option.required);
}

/** A command's own options, and those of every command: what is between takes options that do nothing for it. */
function optionsOf(command: Command): Candidate[] {
  return [command, ...ancestors(command).slice(-1)]
    .flatMap(({ options }) => options)
    .filter(({ hidden }) => !hidden)
    .map((option) => ({ word: option.long ?? option.short ?? '', meaning: option.description }))
    .concat({ word: '--help', meaning: 'what it does, with examples' });
}

function subcommandsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((one) => ({ word: one.name(), meaning: one.description() }));
}

function ancestors(command: Command): Command[] {
  return command.parent ? [command.parent, ...ancestors(command.parent)] : [];
}

function variadic({ registeredArguments }: Command): Argument | undefined {
  const last = registeredArguments.at(-1);
  return last?.variadic ? last : undefined;
}

/** The project that a command is about; empty where it is about none. */
function projectOf({ registeredArguments }: Command, [project = '']: readonly string[]): string {
  return registeredArguments[0]?.name() === 'project' ? project : '';
}

/** What its value is called in the help. */
function valueName(of: Argument | Option): string {
  return 'flags' in of ? (/[<[]([^>\]]+)/.exec(of.flags)?.[1] ?? '') : of.name();
}

/** The candidates for the value of an argument or option: what is known of what it is called. */
async function valuesOf(of: Argument | Option, project: string, names: Names): Promise<Completion> {
  if (of.argChoices !== undefined) return asCandidates(of.argChoices);
  switch (valueName(of)) {
    case 'project':
      return asCandidates(await names.projects());
    case 'agent':
    case 'recipient':
      return asCandidates(await names.agents(project));
    case 'who':
      return asCandidates([...(await names.agents(project)), USER_ID]);
    case 'turn':
      return asCandidates(await names.turns(project));
    case 'agent-or-turn':
      return asCandidates([...(await names.agents(project)), ...(await names.turns(project))]);
    case 'message':
    case 'message-or-thread':
      return names.messages(project);
    case 'role':
      return asCandidates(await names.roles(project));
    case 'team':
      return asCandidates(await names.teams(project));
    case 'states':
      return asCandidates(projectStatuses);
    case 'type':
      return asCandidates(eventTypes);
    case 'nickname':
      return asCandidates(await names.profiles());
    case 'priority':
      return asCandidates(priority.options);
    case 'file':
    case 'dir':
      return 'files';
    default:
      return [];
  }
}

function asCandidates(words: readonly string[]): Candidate[] {
  return words.map((word) => ({ word }));
}

function startingWith(typed: string, completion: Completion): Completion {
  return completion === 'files' ? completion : completion.filter(({ word }) => word.startsWith(typed));
}
