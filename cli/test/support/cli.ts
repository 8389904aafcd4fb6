import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CliContext, Output } from '@suzumio/cli/cli-context';
import { runCli } from '@suzumio/cli/program';
import { eventually } from '../../../test/support/poll.js';

/** What a command left behind. */
export interface CliResult {
  code: number;
  out: string;
  err: string;
}

/** A command that goes on until it is interrupted. */
export interface BegunCommand {
  readonly out: string;
  readonly err: string;
  interrupt(): void;
  /** Does what a second Ctrl-C does. */
  insist(): void;
  readonly ended: Promise<CliResult>;
  /** Interrupts it, and waits for its end. */
  stop(): Promise<CliResult>;
}

/** A place to run commands in: a directory of its own, with a data directory below it. */
export interface CliWorld {
  readonly directory: string;
  readonly root: string;
  /** Runs one command to its end. */
  run(...args: string[]): Promise<CliResult>;
  /** Begins a command that goes on until it is interrupted, or until the world is removed. */
  begin(...args: string[]): BegunCommand;
  /** Begins a server on a port of its own, and waits until it serves. */
  serve(...options: string[]): Promise<BegunCommand>;
  /** Variables of the commands that come from now on, besides those that they need. */
  setEnvironment(variables: Readonly<Record<string, string>>): void;
  /** Writes a file and returns its path. */
  write(name: string, text: string): Promise<string>;
  /** Stops the commands that still run, and removes what there is. */
  remove(): Promise<void>;
}

export interface CliWorldOptions {
  /** What its projects may ask of this machine: by default to run as processes, so that no engine is asked. */
  policy?: string;
  /** What the person answers to each question; nobody is there to be asked while there are none. */
  answers?: string[];
  /** Whether commands write to a terminal with colours. */
  terminal?: boolean;
}

/** The policy of a world whose projects may run in containers, too. */
export const anyBackend = 'backends: [docker, process]\n';

export async function createCliWorld(options: CliWorldOptions = {}): Promise<CliWorld> {
  const { policy = 'backends: [process]\n', answers = [], terminal = false } = options;
  const directory = await mkdtemp(join(tmpdir(), 'suzumio-cli-'));
  const root = join(directory, 'data');
  const policyFile = join(directory, 'policy.yaml');
  await writeFile(policyFile, policy);
  let environment: Readonly<Record<string, string>> = {};
  const commands: BegunCommand[] = [];
  const begin: CliWorld['begin'] = (...args) => {
    const interruption = new AbortController();
    let insist: (() => void) | undefined;
    const [out, err] = [capture(terminal), capture(terminal)];
    const context: CliContext = {
      env: { SUZUMIO_ROOT: root, SUZUMIO_POLICY_FILE: policyFile, ...environment },
      homeDir: directory,
      out,
      err,
      self: 'suzumio',
      interrupted: interruption.signal,
      onInsistence: (act) => {
        insist = act;
      },
      ask: answers.length === 0 ? undefined : () => Promise.resolve(answers.shift() ?? ''),
      now: Date.now,
      timeZone: 'UTC',
    };
    const command: BegunCommand = {
      get out() {
        return out.text();
      },
      get err() {
        return err.text();
      },
      interrupt: () => interruption.abort(),
      insist: () => insist?.(),
      ended: runCli(args, context).then((code) => ({ code, out: out.text(), err: err.text() })),
      stop: () => {
        interruption.abort();
        return command.ended;
      },
    };
    commands.push(command);
    return command;
  };
  return {
    directory,
    root,
    begin,
    run: (...args) => begin(...args).ended,
    async serve(...options) {
      const server = begin('serve', '--port', '0', ...options);
      await printed(server, 'next: ');
      return server;
    },
    setEnvironment(variables) {
      environment = variables;
    },
    async write(name, text) {
      const file = join(directory, name);
      await writeFile(file, text);
      return file;
    },
    async remove() {
      await Promise.all(commands.map((command) => command.stop()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Waits until a command has printed something, so many times. */
export const printed = (
  command: { readonly out: string; readonly err: string },
  text: string,
  times = 1,
): Promise<void> =>
  eventually(`it prints ${JSON.stringify(text)}`, () => command.out.split(text).length > times, {
    show: () => `${command.out}${command.err}`,
  });

function capture(terminal: boolean): Output & { text(): string } {
  let text = '';
  return {
    write: (more) => {
      text += typeof more === 'string' ? more : Buffer.from(more).toString('latin1');
    },
    drained: () => Promise.resolve(),
    text: () => text,
    isTerminal: terminal,
    colors: terminal,
    columns: undefined,
  };
}

/** A project whose one agent publishes a note and hands it in, and hands in another one when it is asked to. */
export const notesProject = (name: string) => `
name: ${name}
task: Hand in a note.
channels: ["#notes"]
backend:
  kind: process
  runner:
    mode: mock
    script:
      - agent: writer
        when: { contains: fail }
        steps:
          - fail: { exit: 3 }
      - agent: writer
        when: { contains: hello }
        steps:
          - text: Hello.
      - agent: writer
        steps:
          - write: { path: note.md, text: "Note {{turn.number}}." }
          - { tool: artifacts.publish, input: { path: note.md, description: A note } }
          - { tool: completion.submit, input: { report: "# Note {{turn.number}}" } }
agents:
  writer: { role: writer, prompt: Write., tools: [artifacts.publish, completion.submit] }
  reader: { role: reader, displayName: Ren, prompt: Read. }
`;
