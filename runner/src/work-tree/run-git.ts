import { spawn, type StdioOptions } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** What Git is given, and where its output goes. */
export interface GitOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly input?: string | Buffer | { readonly file: string };
  readonly outputTo?: string;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
  /** @default as long as it takes */
  readonly timeoutMs?: number;
  /** The exit codes that are no failure. @default 0 */
  readonly codes?: readonly number[];
}

/** By which hash a repository names its objects. */
export type HashName = 'sha1' | 'sha256';

/** How much of what Git says is told. */
const maxSaidChars = 2_000;

/** Takes a pack from the input, with little memory: one thread, and large objects as streams. */
export const takePack = [
  ...['-c', 'pack.threads=1', '-c', 'core.bigFileThreshold=16m'],
  ...['index-pack', '--strict', '--stdin'],
];

/** The environment for a repository of ours: no settings but Git's own, and nothing of the repository that Git was started in. */
export function ownEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const others = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')));
  return { ...others, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
}

/** Git has failed; its message is the end of what Git said. */
export class GitFailed extends Error {}

/** There is no Git. */
export class GitMissing extends GitFailed {}

/**
 * Runs Git and returns its output.
 *
 * @throws GitFailed
 */
export async function runGit(args: readonly string[], options: GitOptions): Promise<string> {
  const { env, cwd, input = '', outputTo, signal, timeoutMs, codes = [0] } = options;
  const child = spawn('git', args, {
    env,
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
    signal,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  const ended = endOf(child);
  const from = typeof input === 'string' || Buffer.isBuffer(input) ? [input] : createReadStream(input.file);
  // Git may end before it has read everything: its exit code says why.
  const sent = pipeline(from, child.stdin).catch(() => undefined);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-maxSaidChars)));
  let output = '';
  if (outputTo === undefined) child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  else await pipeline(child.stdout, createWriteStream(outputTo));
  const end = await ended;
  await sent;
  if (typeof end === 'number' && codes.includes(end)) return output;
  throw new GitFailed(said.trim() === '' ? `git ${args[0] ?? ''} ended with ${end}` : said.trim());
}

/** Runs one of Git's services on our own streams, and returns its exit code. */
export async function runService(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const stdio: StdioOptions = 'inherit';
  const end = await endOf(spawn('git', args, { env, stdio }));
  return typeof end === 'number' ? end : 1;
}

/** @returns the exit code, or the name of the signal */
function endOf(child: ReturnType<typeof spawn>): Promise<number | string> {
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') reject(new GitMissing('git is not in this image'));
      else if (error.name !== 'AbortError') reject(new GitFailed(`git could not be started: ${error.message}`));
    });
    child.once('close', (code, signal) => resolve(code ?? signal ?? 1));
  });
}
