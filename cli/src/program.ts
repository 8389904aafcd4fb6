import { readFileSync } from 'node:fs';
import { Command, CommanderError, Help } from 'commander';
import * as z from 'zod';
import type { CliContext } from './cli-context.js';
import type { Action, Register } from './commands/action.js';
import { registerAgents } from './commands/agents.js';
import { registerArtifacts } from './commands/artifacts.js';
import { registerAudit } from './commands/audit.js';
import { registerCompletion } from './commands/completion.js';
import { registerConfig } from './commands/config.js';
import { registerDelete } from './commands/delete.js';
import { registerDoctor } from './commands/doctor.js';
import { registerGit } from './commands/git.js';
import { registerLabel } from './commands/label.js';
import { registerLifecycle } from './commands/lifecycle.js';
import { registerMail } from './commands/mail.js';
import { registerPatch } from './commands/patch.js';
import { registerPause } from './commands/pause.js';
import { registerPolicy } from './commands/policy.js';
import { registerMemory } from './commands/memory.js';
import { registerProfiles } from './commands/profiles.js';
import { registerRecords } from './commands/records.js';
import { registerSearch } from './commands/search.js';
import { registerServing } from './commands/serving.js';
import { registerSignIn } from './commands/sign-in.js';
import { registerStatus } from './commands/status.js';
import { registerTeams } from './commands/teams.js';
import { registerTokens } from './commands/tokens.js';
import { registerTurns } from './commands/turns.js';
import { registerUsage } from './commands/usage.js';
import { registerVerify } from './commands/verify.js';
import { registerWatch } from './commands/watch.js';
import { registerWhy } from './commands/why.js';
import { registerWorkers } from './commands/workers.js';
import { registerWorkspace } from './commands/workspace.js';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.js';
import { acceptPublishedNames } from './published-commands.js';
import { paint } from './render/colors.js';
import { wrap } from './render/format.js';
import { renderError } from './render/render-error.js';
import { createSession, type GlobalOptions, type Session } from './session.js';
import { UsageError } from './usage-error.js';

/** Runs one command and returns its exit code. `args` are those after the command's own name. */
export async function runCli(args: readonly string[], context: CliContext): Promise<ExitCode> {
  let code: ExitCode = exitCodes.ok;
  const json = asksForJson(args);
  let session: Session = createSession(context, { json });
  const action: Action =
    <Args extends unknown[]>(body: (session: Session, ...args: Args) => Promise<ExitCode | undefined>) =>
    async (...received: [...Args, Command]) => {
      const command = received.at(-1) as Command;
      const named = command.registeredArguments[0]?.name() === 'project' ? command.args[0] : undefined;
      session = createSession(context, command.optsWithGlobals<GlobalOptions>(), named);
      code = (await body(session, ...(received.slice(0, -1) as Args))) ?? exitCodes.ok;
    };
  try {
    await buildProgram(context, action, { silent: json }).parseAsync([...args], { from: 'user' });
    return code;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCodes.ok;
    // What commander has told already is told once more to a program only.
    if (thrown instanceof CommanderError && !json) return exitCodes.usage;
    const error = thrown instanceof CommanderError ? asUsageError(thrown) : thrown;
    const lines = renderError(error, session).flatMap((line) =>
      json || line.startsWith('next: ') ? line : wrap(line, context.err.columns, { indent: '  ' }),
    );
    context.err.write(`${lines.join('\n')}\n`);
    return exitCodeOf(error);
  } finally {
    await session.end();
  }
}

/** Whether the option is among the arguments: an answer is wanted in JSON also where they are written wrongly. */
function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end < 0 ? args : args.slice(0, end)).includes('--json');
}

function asUsageError({ code, message }: CommanderError): UsageError {
  if (code === 'commander.help') return new UsageError('No command is named.', '--help');
  return new UsageError(message.replace(/^error: /, '').replaceAll('\n', ' '));
}

const exitCodeHelp = `
Exit codes:
  0  done
  1  something failed on Suzumio's side, or a check found something broken
  2  the command was written wrongly; nothing was tried
  3  refused: an invalid file, an unknown project, a step that the project's state does not allow
  4  no server is running, or none answers
  5  what was waited for has not come in time, and may still come
  130  interrupted

Examples:
  suzumio up newsroom.yaml                         serve, make the project, start it, follow it
  suzumio send newsroom editor P1 Good evening     mail for an agent
  suzumio status newsroom                          how it stands, and what to do next`;

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')));

/** Every command, under the heading that the help shows it with. */
const commands: readonly (readonly [heading: string, ...Register[]])[] = [
  ['Serve', registerServing, registerConfig, registerPolicy],
  ['Projects', registerStatus, registerWatch, registerSearch, registerLifecycle, registerLabel, registerDelete],
  ['Mail', registerMail],
  ['Profiles and teams', registerProfiles, registerTeams],
  ['Agents and turns', registerAgents, registerWhy, registerTurns, registerMemory],
  ['Cost', registerUsage, registerPause],
  ['What a project leaves', registerArtifacts, registerPatch, registerWorkspace, registerGit, registerRecords],
  ['Access', registerSignIn, registerTokens, registerAudit],
  ['This installation', registerDoctor, registerWorkers, registerVerify, registerCompletion],
];

/**
 * The program with all its commands.
 *
 * @param options.silent whether the caller reports usage errors
 */
export function buildProgram(context: CliContext, action: Action, { silent = false } = {}): Command {
  const colors = paint(context.out);
  const help = Object.assign(new Help(), { showGlobalOptions: true });
  const program: Command = new Command('suzumio')
    .version(version, '--version', 'print the version')
    .description('Runs teams of AI agents as durable messages and isolated turns.')
    .option('--root <dir>', 'the data directory (SUZUMIO_ROOT; by default suzumio below your data home)')
    .option('--url <url>', 'the API of a server elsewhere (SUZUMIO_URL, with SUZUMIO_TOKEN)')
    .option('--json', 'print data as JSON')
    .addHelpText('after', exitCodeHelp)
    .configureHelp({
      showGlobalOptions: true,
      visibleGlobalOptions: (command) =>
        help
          .visibleGlobalOptions(command)
          .filter((option) => program.options.includes(option) && option.long !== '--version'),
      subcommandTerm: (command) => command.name(),
      commandUsage: (command) =>
        command.aliases().reduce((usage, alias) => usage.replace(`|${alias}`, ''), help.commandUsage(command)),
      optionDescription: (option) =>
        option.defaultValue === false ? option.description : help.optionDescription(option),
      styleTitle: colors.bold,
    })
    .configureOutput({
      writeOut: (text) => context.out.write(text),
      writeErr: (text) => {
        if (!silent) context.err.write(text);
      },
      getOutHelpWidth: () => context.out.columns ?? 100,
      getErrHelpWidth: () => context.err.columns ?? 100,
      getOutHasColors: () => context.out.colors,
      getErrHasColors: () => context.err.colors,
    })
    .exitOverride()
    .helpOption('-h, --help', 'show this help')
    .hook('preAction', (_program, command) => {
      refuseOptionsOfGroups(command);
      refuseServer(program, command);
    });
  for (const [heading, ...registers] of commands) {
    program.commandsGroup(`${heading}:`);
    for (const register of registers) register(program, action);
  }
  acceptPublishedNames(program, (text) => {
    const lines = wrap(`note: ${text}`, context.err.columns, { indent: '  ' });
    context.err.write(`${lines.join('\n')}\n`);
  });
  sayHowToGoOn(program, 'suzumio');
  // Options after `messages show` are those of `show`.
  for (const command of program.commands) if (command.commands.length > 0) command.enablePositionalOptions();
  return program;
}

/** Commands that ask no server: `--url` would do nothing. */
const withoutServer = ['serve', 'demo', 'config render', 'config import', 'config schema', 'completion'];

function refuseServer(program: Command, command: Command): void {
  const group = command.parent === program ? '' : `${command.parent?.name() ?? ''} `;
  const name = `${group}${command.name()}`;
  if (program.getOptionValueSource('url') !== 'cli' || !withoutServer.includes(name)) return;
  const message = `error: ${name} asks no server: leave out --url`;
  command.error(message, { code: 'suzumio.withoutServer', exitCode: 2 });
}

/** An option of `messages` would do nothing before `show`. */
function refuseOptionsOfGroups(command: Command): void {
  for (let group = command.parent; group?.parent; group = group.parent) {
    const given = group.options.find((option) => group.getOptionValueSource(option.attributeName()) === 'cli');
    if (given)
      command.error(`error: unknown option '${given.long ?? given.flags}'`, { code: 'commander.unknownOption' });
  }
}

/** What is written wrongly is followed by how that command is written. */
function sayHowToGoOn(command: Command, path: string): void {
  const usage = command.parent === null ? '' : `usage: ${path} ${command.usage()}\n`;
  command.showHelpAfterError(`${usage}next: ${path} --help`).helpCommand(false);
  for (const one of command.commands) sayHowToGoOn(one, `${path} ${one.name()}`);
}
