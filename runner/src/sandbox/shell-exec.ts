import type { SandboxInput } from '@suzumio/protocol/sandbox-tools/catalogue';
import { hasCode, SandboxRefusal } from './paths/refusal.js';
import { kindOf, missing } from './paths/roots.js';
import { Command, type Exit, type Sink } from './processes/command.js';
import { KeptOutput, shares } from './processes/kept-output.js';
import { OutputFile } from './processes/output-file.js';
import type { Sandbox, SandboxCall, SandboxResponse } from './sandbox.js';
import { counted, lasted } from './text/legible.js';

type Input = SandboxInput<'shell.exec'>;

export async function execute(input: Input, sandbox: Sandbox, call: SandboxCall): Promise<SandboxResponse> {
  return input.background ? inBackground(input, sandbox, call) : inForeground(input, sandbox, call);
}

async function inBackground(input: Input, sandbox: Sandbox, { step }: SandboxCall): Promise<SandboxResponse> {
  const { processes } = sandbox;
  processes.refuseIfFull();
  const output = outputFile(sandbox, step, 0);
  const command = await started(
    input,
    sandbox,
    told(sandbox, step, (chunk) => output.add(chunk)),
  );
  const handle = `bg-${step}`;
  processes.add(handle, command, output);
  return {
    output: `Runs in the background as ${handle}. Read what it prints with shell.read; it ends with the turn, or with shell.stop.`,
    metadata: { handle },
  };
}

async function inForeground(input: Input, sandbox: Sandbox, { step, signal }: SandboxCall): Promise<SandboxResponse> {
  const { maxOutputBytes, timeoutMs } = input;
  signal.throwIfAborted();
  const file = outputFile(sandbox, step, maxOutputBytes);
  const kept = { stdout: new KeptOutput(maxOutputBytes), stderr: new KeptOutput(maxOutputBytes) };
  const sink: Sink = (chunk, stream) => {
    kept[stream].add(chunk);
    return file.add(chunk);
  };
  const command = await started(input, sandbox, told(sandbox, step, sink));
  try {
    const exit = await firstOf(command.exited, timeoutMs, signal);
    if (exit === 'cancelled') await command.end();
    signal.throwIfAborted();
    if (exit === 'timeout') await command.stop();
    const left = await command.end();
    const end = { exit: exit === 'timeout' ? await command.exited : (exit as Exit), timedOut: exit === 'timeout' };
    return answer(input, { ...end, left: end.timedOut ? [] : left, kept, file });
  } finally {
    sandbox.live.ended(step);
    await file.close();
  }
}

interface Ended {
  readonly exit: Exit;
  readonly timedOut: boolean;
  /** The names of the processes that the command left behind. */
  readonly left: readonly string[];
  readonly kept: { readonly stdout: KeptOutput; readonly stderr: KeptOutput };
  readonly file: OutputFile;
}

function answer({ maxOutputBytes, timeoutMs }: Input, { exit, timedOut, left, kept, file }: Ended): SandboxResponse {
  const { stdout, stderr } = kept;
  const [first, second] = shares(maxOutputBytes, stdout.bytes, stderr.bytes);
  const how = timedOut
    ? `timeout: ended after ${lasted(exit.durationMs)}, for its timeoutMs is ${timeoutMs}; background lets a command run on`
    : `${exitText(exit)}, ${lasted(exit.durationMs)}`;
  const truncated = stdout.bytes + stderr.bytes > maxOutputBytes;
  const parts = [`[${how}]`, ...section('stdout', stdout, first), ...section('stderr', stderr, second)];
  if (truncated) parts.push(`[${whereAllIs(file)}]`);
  if (left.length > 0) {
    parts.push(
      `[It left ${counted(left.length, 'process', 'processes')} behind, now ended: ${named(left)}. Use background for what is to stay.]`,
    );
  }
  return {
    output: parts.join('\n'),
    metadata: {
      exitCode: timedOut ? null : exit.exitCode,
      signal: exit.signal,
      ...(exit.outOfMemory ? { outOfMemory: true } : {}),
      timedOut,
      truncated,
      durationMs: Math.round(exit.durationMs),
      ...(timedOut ? { code: 'timeout' } : {}),
      ...(file.path === undefined ? {} : { outputFile: file.path }),
    },
  };
}

function whereAllIs({ path, loss }: OutputFile): string {
  return [...(path === undefined ? [] : [`All of it is in ${path}, for file.read and file.search.`]), loss]
    .filter(Boolean)
    .join(' ');
}

function section(name: string, output: KeptOutput, most: number): string[] {
  return output.bytes === 0 ? [] : [`[${name}]`, output.text(most).replace(/\n$/, '')];
}

/** What commonly leads to a signal that ends a program. */
const causes: Readonly<Record<string, string>> = {
  SIGABRT: 'it gave up by itself, as where an assertion fails or its own limit of memory is reached',
  SIGALRM: 'a timer of its own ran out',
  SIGBUS:
    'it used mapped memory that its file no longer has room for, as where /dev/shm, /tmp or the disk is full (df -h)',
  SIGFPE: 'an arithmetic error, as dividing an integer by zero',
  SIGHUP: 'its terminal or parent ended',
  SIGILL: 'it met an instruction that this processor does not have, or gave up by itself',
  SIGINT: 'it was interrupted',
  SIGKILL: 'another program or the system killed it',
  SIGPIPE: 'it wrote to a pipe that nothing read any more, as where head has ended',
  SIGQUIT: 'it was told to quit',
  SIGSEGV: 'it used memory that is not its own, or its stack was full',
  SIGSYS: 'it made a system call that is not allowed here',
  SIGTERM: 'it was told to end',
  SIGTRAP: 'it met a breakpoint, or gave up by itself',
  SIGXCPU: 'it used more processor time than its limit (ulimit -t)',
  SIGXFSZ: 'it wrote a file larger than one may be here (ulimit -f)',
};

/** How a command ended, in words; `when` precedes the cause. */
export function exitText({ exitCode, signal, outOfMemory }: Exit, when = ''): string {
  const cause = outOfMemory ? 'killed because the memory of the turn was used up' : causes[signal ?? ''];
  const why = cause === undefined ? '' : `, ${cause}`;
  if (exitCode === null) return `ended by ${signal ?? 'a signal'}${when}${why}`;
  return `exit code ${exitCode}${signal === null ? '' : `: ${signal}`}${when}${why}`;
}

const maxNamed = 5;

function named(left: readonly string[]): string {
  const names = [...new Set(left)];
  return names.slice(0, maxNamed).join(', ') + (names.length > maxNamed ? ', …' : '');
}

async function started({ command, cwd }: Input, { roots, env }: Sandbox, sink: Sink): Promise<Command> {
  return roots.at(cwd ?? '.', {}, async (place) => {
    if (!place.facts) throw await missing(place, 'directory-unknown');
    if (!place.facts.isDirectory()) {
      throw new SandboxRefusal('not-a-directory', `${JSON.stringify(cwd)} is ${kindOf(place.facts)}, not a directory.`);
    }
    const directory = await place.directory.enter(place.name);
    try {
      return startedIn(directory.self, command, { ...env, PWD: place.path }, sink);
    } finally {
      await directory.close();
    }
  });
}

function startedIn(directory: string, command: string, env: Sandbox['env'], sink: Sink): Command {
  try {
    return Command.start(command, directory, env, sink);
  } catch (error) {
    if (!hasCode(error, 'E2BIG')) throw error;
    const bytes = Buffer.byteLength(command);
    const message = `The command is too long to be started: it has ${bytes} bytes. Write it to a file with file.write, and run that.`;
    throw new SandboxRefusal('input-invalid', message, { cause: error });
  }
}

function outputFile({ roots, limits }: Sandbox, step: string, afterBytes: number): OutputFile {
  return new OutputFile(roots, step.replace(/[^\w.-]/g, '_'), { afterBytes, maxBytes: limits.outputFileBytes });
}

/** Has the beginning of the output go to the turn's log, too, and all of it to who follows the turn. */
function told({ log, live, limits }: Sandbox, step: string, sink: Sink): Sink {
  let room = limits.loggedBytes;
  return (chunk, stream) => {
    if (room > 0) log(chunk.subarray(0, room));
    room -= chunk.length;
    live.add(step, stream, chunk);
    return sink(chunk, stream);
  };
}

/** What comes first: its end, its time, or the turn's end. */
async function firstOf(
  exited: Promise<Exit>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Exit | 'timeout' | 'cancelled'> {
  const { promise, resolve, reject } = Promise.withResolvers<Exit | 'timeout' | 'cancelled'>();
  const cancel = () => resolve('cancelled');
  const timer = setTimeout(() => resolve('timeout'), timeoutMs);
  signal.addEventListener('abort', cancel);
  exited.then(resolve, reject);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}
