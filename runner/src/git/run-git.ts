import { spawn, type StdioOptions } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { exitCodes, TurnFailure } from '../turn-failure.js';

/** What Git is given, and where its output goes. */
export interface GitOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly input?: string | { readonly file: string };
  readonly outputTo?: string;
}

/** How much of what Git says is told. */
const maxSaidChars = 2_000;

/** Git has failed; its message is the end of what Git said. */
export class GitFailed extends Error {}

/**
 * Runs Git and returns its output.
 *
 * @throws GitFailed
 */
export async function runGit(args: readonly string[], { env, input = '', outputTo }: GitOptions): Promise<string> {
  const child = spawn('git', args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = endOf(child);
  const from = typeof input === 'string' ? [input] : createReadStream(input.file);
  // Git may end before it has read everything: its exit code says why.
  const sent = pipeline(from, child.stdin).catch(() => undefined);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-maxSaidChars)));
  let output = '';
  if (outputTo === undefined) child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  else await pipeline(child.stdout, createWriteStream(outputTo));
  const code = await ended;
  await sent;
  if (code === 0) return output;
  throw new GitFailed(said.trim() === '' ? `git ${args[0] ?? ''} exited with ${String(code)}` : said.trim());
}

/** Runs one of Git's services on our own streams, and returns its exit code. */
export function runService(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const stdio: StdioOptions = 'inherit';
  return endOf(spawn('git', args, { env, stdio }));
}

function endOf(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      reject(new TurnFailure(`git could not be started: ${error.message}`, exitCodes.internal));
    });
    child.once('close', (code) => resolve(code ?? 1));
  });
}
