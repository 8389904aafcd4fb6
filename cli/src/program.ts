import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import * as z from 'zod';
import type { CliContext } from './cli-context.js';
import type { Action } from './commands/action.js';
import { registerConfig } from './commands/config.js';
import { registerLifecycle } from './commands/lifecycle.js';
import { registerReads } from './commands/reads.js';
import { registerServing } from './commands/serving.js';
import { registerStatus } from './commands/status.js';
import { registerWatch } from './commands/watch.js';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.js';
import { renderError } from './render/render-error.js';
import { createSession, type GlobalOptions, type Session } from './session.js';

/** Runs one command and returns its exit code. `args` are those after the command's own name. */
export async function runCli(args: readonly string[], context: CliContext): Promise<ExitCode> {
  let code: ExitCode = exitCodes.ok;
  let session: Session = createSession(context, {});
  const action: Action =
    <Args extends unknown[]>(body: (session: Session, ...args: Args) => Promise<ExitCode | undefined>) =>
    async (...received: [...Args, Command]) => {
      const command = received.at(-1) as Command;
      session = createSession(context, command.optsWithGlobals<GlobalOptions>());
      code = (await body(session, ...(received.slice(0, -1) as Args))) ?? exitCodes.ok;
    };
  try {
    await buildProgram(context, action).parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    context.err.write(`${renderError(error, session).join('\n')}\n`);
    return exitCodeOf(error);
  }
}

const exitCodeHelp = `
Exit codes:
  0  done
  1  something failed on Suzumio's side, or a check found something broken
  2  the command was written wrongly; nothing was tried
  3  refused: an invalid file, an unknown project, a step that the project's state does not allow
  4  no server is running, or none answers

Examples:
  suzumio up newsroom.yaml                         serve, make the project, start it, follow it
  suzumio send newsroom editor P1 Good evening     mail for an agent
  suzumio status newsroom                          how it stands, and what to do next`;

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')));

function buildProgram(context: CliContext, action: Action): Command {
  const program = new Command('suzumio')
    .version(version, '--version', 'print the version')
    .description('Runs teams of AI agents as durable messages and isolated turns.')
    .option('--root <dir>', 'the data directory (SUZUMIO_ROOT; by default suzumio below your data home)')
    .option('--url <url>', 'the API of a server elsewhere (SUZUMIO_URL, with SUZUMIO_TOKEN)')
    .option('--json', 'print data as JSON')
    .addHelpText('after', exitCodeHelp)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => context.out.write(text),
      writeErr: (text) => context.err.write(text),
      getOutHelpWidth: () => context.out.columns ?? 100,
      getOutHasColors: () => context.out.colors,
      getErrHasColors: () => context.err.colors,
    })
    .exitOverride()
    .showHelpAfterError('next: suzumio --help');
  const commands = [registerServing, registerLifecycle, registerStatus, registerWatch, registerReads, registerConfig];
  for (const register of commands) register(program, action);
  return program;
}
