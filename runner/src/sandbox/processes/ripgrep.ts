import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { SandboxRefusal } from '../paths/refusal.js';
import { firstBytes, legible } from '../text/legible.js';
import { findProgram } from './find-program.js';

export interface RipgrepOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** How a search ended. */
export interface RipgrepEnd {
  /** That it was ended before it was through: by `onLine`, or for its time. */
  readonly ended: 'by-caller' | 'by-time' | undefined;
  readonly exitCode: number | null;
  readonly errors: string;
}

/** The longest line of its output that is read: of a match in a longer one only the beginning is. */
const maxLineBytes = 256 * 1024;
const maxErrorBytes = 4000;
const maxFiles = 50_000;

/** Of every search: no configuration of the user's, hidden files too, `.gitignore` outside of repositories too. */
const common = ['--no-config', '--hidden', '--no-require-git', '--glob', '!.git'];

/**
 * Runs ripgrep in a directory. It follows no links. `onLine` is given each line of its output, the beginning where it is
 * very long, and ends it by answering `false`.
 *
 * @throws SandboxRefusal `program-missing`
 */
export async function ripgrep(
  cwd: string,
  args: readonly string[],
  { env, signal, timeoutMs }: RipgrepOptions,
  onLine: (line: Buffer, isCut: boolean) => boolean,
): Promise<RipgrepEnd> {
  const program = findProgram('rg', env);
  if (program === undefined) {
    throw new SandboxRefusal(
      'program-missing',
      'ripgrep (rg) is not in this image: search with a command (grep -rn), or use an image that has it.',
    );
  }
  const child = spawn(program, [...common, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
  const exited = once(child, 'close') as Promise<[number | null]>;
  let ended: RipgrepEnd['ended'];
  let errors = Buffer.alloc(0);
  child.stderr.on('data', (chunk: Buffer) => {
    errors = firstBytes(Buffer.concat([errors, chunk]), maxErrorBytes) as Buffer<ArrayBuffer>;
  });
  const end = (why: NonNullable<RipgrepEnd['ended']>): void => {
    ended ??= why;
    child.kill('SIGKILL');
  };
  const timer = setTimeout(() => end('by-time'), timeoutMs);
  const lines = new LineSplitter(onLine);
  child.stdout.on('data', (chunk: Buffer) => {
    if (ended === undefined && !lines.take(chunk)) end('by-caller');
  });
  try {
    const [exitCode] = await exited;
    return { ended, exitCode, errors: legible(errors).trim() };
  } finally {
    clearTimeout(timer);
  }
}

/** The files below a directory that no `.gitignore` names, by their paths relative to it: 50,000 at most. */
export async function unignoredFiles(cwd: string, options: RipgrepOptions): Promise<string[]> {
  const files: string[] = [];
  await ripgrep(cwd, ['--files', '--no-messages'], options, (line) => files.push(line.toString()) < maxFiles);
  return files;
}

/** Cuts a stream into lines, in little memory however long they are. */
class LineSplitter {
  #parts: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  constructor(private readonly onLine: (line: Buffer, isCut: boolean) => boolean) {}

  /** @returns whether more is wanted */
  take(chunk: Buffer): boolean {
    for (let start = 0; ;) {
      const end = chunk.indexOf(10, start);
      this.#add(chunk.subarray(start, end === -1 ? chunk.length : end));
      if (end === -1) return true;
      const [line, isCut] = [Buffer.concat(this.#parts), this.#isCut];
      [this.#parts, this.#bytes, this.#isCut] = [[], 0, false];
      if (!this.onLine(line, isCut)) return false;
      start = end + 1;
    }
  }

  #add(part: Buffer): void {
    const room = maxLineBytes - this.#bytes;
    if (part.length > room) this.#isCut = true;
    const kept = part.subarray(0, room);
    if (kept.length > 0) this.#parts.push(Buffer.from(kept));
    this.#bytes += kept.length;
  }
}
