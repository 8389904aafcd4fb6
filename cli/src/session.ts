import { join, resolve } from 'node:path';
import type { CliContext } from './cli-context.js';
import { wrap } from './render/format.js';

/** Options that every command takes. */
export interface GlobalOptions {
  root?: string;
  url?: string;
  json?: boolean;
}

/** One run of one command: its data directory or server, and its output. */
export interface Session {
  readonly context: CliContext;
  /** The data directory. */
  readonly root: string;
  /** Whether the command line names it. */
  readonly rootNamed: boolean;
  /** The address of a server that was asked for by name. */
  readonly url: string | undefined;
  readonly json: boolean;
  /** The project that the command is about, where it names one. */
  readonly project: string | undefined;
  /** The beginning of every command that is suggested, with the options that lead to the same place. */
  readonly suzumio: string;
  /** Has something done when the command has ended. */
  onEnd(close: () => Promise<void>): void;
  /** The command has ended. */
  end(): Promise<void>;
}

export function createSession(context: CliContext, options: GlobalOptions, project?: string): Session {
  const { env, self } = context;
  const given = options.root ?? nonEmpty(env.SUZUMIO_ROOT);
  const root = given === undefined ? defaultRoot(context) : resolve(given);
  const where = options.root === undefined ? [] : ['--root', shellWord(root)];
  const closing: (() => Promise<void>)[] = [];
  const at = options.url === undefined ? [] : ['--url', shellWord(options.url)];
  return {
    context,
    root,
    rootNamed: options.root !== undefined,
    // What is written on the command line goes before the environment, also where it says the same in another way.
    url: options.url ?? (options.root === undefined ? nonEmpty(env.SUZUMIO_URL) : undefined),
    json: options.json ?? false,
    project,
    suzumio: [self, ...where, ...at].join(' '),
    onEnd: (close) => void closing.push(close),
    async end() {
      for (const close of closing) await close();
    },
  };
}

/** Prints lines for a person; with `--json`, programs get data instead. */
export function say({ context, json }: Session, ...lines: string[]): void {
  if (json) return;
  for (const line of lines) context.out.write(`${line}\n`);
}

/** Prints data for a program: with `--json` only. `line` puts it on one, so that more may follow. */
export function sayJson({ context, json }: Session, value: unknown, layout: 'block' | 'line' = 'block'): void {
  if (json) context.out.write(`${JSON.stringify(value, null, layout === 'block' ? 2 : undefined)}\n`);
}

/** Suggests what to do next: the last lines of a command's output. */
export function sayNext(session: Session, ...commands: string[]): void {
  const { columns } = session.context.out;
  commands.forEach((command, index) => {
    const line = `${index === 0 ? 'next: ' : '      '}${session.suzumio} ${command}`;
    say(session, ...wrap(line, columns, { indent: '        ', mark: ' \\' }));
  });
}

/** Suggests what to do next after a read: on a terminal only, since a pipe gets just the data. */
export function sayHint(session: Session, ...commands: string[]): void {
  if (session.context.out.isTerminal) sayNext(session, ...commands);
}

function defaultRoot({ env, homeDir }: CliContext): string {
  return join(nonEmpty(env.XDG_DATA_HOME) ?? join(homeDir, '.local', 'share'), 'suzumio');
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

/** A word, quoted for a shell. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
