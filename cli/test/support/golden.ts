import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { expect } from '@jest/globals';
import type { Output } from '@suzumio/cli/cli-context';
import { runCli } from '@suzumio/cli/program';
import { eventually } from '../../../test/support/poll.js';

const command = fileURLToPath(new URL('../../bin/suzumio.js', import.meta.url));
const clone = fileURLToPath(new URL('../../../', import.meta.url));
const goldenFile = (name: string) => fileURLToPath(new URL(`../golden/${name}.txt`, import.meta.url));

/** Where a command's output goes. */
export const modes = ['terminal', 'pipe'] as const;
export type Mode = (typeof modes)[number];

/** One run of the command. */
export interface Run {
  readonly args: readonly string[];
  /** The directory that it runs in, and below which its data directory is. */
  readonly directory: string;
  readonly root: string;
  /** What a person types, one answer after another. */
  readonly answers?: readonly string[];
  /** Goes on until this was printed; then comes Ctrl-C. */
  readonly until?: RegExp;
}

const columns = 100;
const endWithinMs = 300_000;

/**
 * What a run of the command's function printed and how it ended, as a golden file shows it: in this process, so that
 * every command can be played. Nobody answers its questions, and nothing interrupts it.
 */
export async function transcript(mode: Mode, run: Run): Promise<string> {
  const out = capture(mode);
  const err = mode === 'terminal' ? out : capture(mode);
  const elsewhere = process.cwd();
  process.chdir(run.directory);
  try {
    const code = await runCli(run.args, {
      env: environment(run),
      homeDir: homedir(),
      out,
      err,
      self: 'suzumio',
      interrupted: new AbortController().signal,
      ask: undefined,
      now: Date.now,
      timeZone: 'UTC',
    });
    return shownAs(run, out.text(), err === out ? '' : err.text(), code);
  } finally {
    process.chdir(elsewhere);
  }
}

/** The same of the built command, as a shell starts it: a process of its own, and a real pseudo-terminal. */
export async function processTranscript(mode: Mode, run: Run): Promise<string> {
  const env = { ...environment(run), NODE_OPTIONS: '', TZ: 'UTC' };
  const plain = [process.execPath, command, ...run.args];
  const [program = '', ...args] = mode === 'pipe' ? plain : ['script', '-qec', inTerminal(plain), '/dev/null'];
  const child = spawn(program, args, { cwd: run.directory, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  const ended = once(child, 'close') as Promise<[number | null]>;
  try {
    await steer(child, mode, run, out);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  const tooLong = setTimeout(() => child.kill('SIGKILL'), endWithinMs);
  const [code] = await ended;
  clearTimeout(tooLong);
  child.stdin.destroy();
  return shownAs(run, out.text(), err.text(), code);
}

function shownAs({ args }: Run, out: string, err: string, code: number | null): string {
  const parts = [
    `$ suzumio ${args.map(shown).join(' ')}`,
    out.replaceAll('\r', ''),
    ...(err === '' ? [] : [`-- standard error\n${err}`]),
    `-- exit code ${String(code)}\n`,
  ];
  return parts.map((part) => (part.endsWith('\n') || part === '' ? part : `${part}\n`)).join('');
}

/** This process's variables without those that would change what the command prints. */
function environment({ root }: Run): NodeJS.ProcessEnv {
  const env = { ...process.env, TERM: 'xterm-256color', SUZUMIO_ROOT: root };
  for (const name of ['npm_lifecycle_event', 'NO_COLOR', 'FORCE_COLOR', 'SUZUMIO_URL', 'SUZUMIO_TOKEN', 'CI']) {
    Reflect.deleteProperty(env, name);
  }
  return env;
}

/** Types what a person types, and ends what goes on. */
async function steer(
  child: ChildProcessWithoutNullStreams,
  mode: Mode,
  { answers = [], until }: Run,
  out: { text(): string },
): Promise<void> {
  if (mode === 'pipe') child.stdin.end();
  const asked = () => stripVTControlCharacters(out.text());
  let handled = 0;
  for (const answer of answers) {
    // On a line after the last answer's: that is shown in pieces, too, and may have what ends a question.
    const isQuestion = () => (handled === 0 ? /[:\]] $/ : /\n.*[:\]] $/).test(asked().slice(handled));
    await eventually(`a question for the answer "${answer}"`, isQuestion, { show: asked });
    handled = asked().length;
    child.stdin.write(`${answer}\n`);
  }
  if (until === undefined) return;
  await eventually(`it prints ${String(until)}`, () => until.test(asked()) || child.exitCode !== null, { show: asked });
  if (mode === 'pipe') child.kill('SIGINT');
  else child.stdin.write('\x03');
}

/**
 * Puts what differs from run to run into words that do not, and what cannot be seen into what can.
 *
 * @param run.fresh whether it was run without the projects whose clock stands still
 */
export function normalised(
  text: string,
  { root, directory, fresh = false }: Pick<Run, 'root' | 'directory'> & { readonly fresh?: boolean | undefined },
): string {
  return (
    text
      .replaceAll(root, '<root>')
      .replaceAll(directory, '<directory>')
      .replaceAll(clone, '<clone>/')
      .replaceAll('\u001b', '␛')
      // Where a question moves the cursor.
      .replaceAll(/␛\[\d*[GJ]/g, '')
      .replaceAll(/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/g, '<uuid>')
      .replaceAll(/\b(msg|turn|art|call|note)_[0-9A-HJKMNP-TV-Z]{4,26}/g, '$1_<id>')
      // The clock of the projects stands still in the evening of 21 November 2026; all else is now.
      .replaceAll(/(?!2026-11-21 20:14)\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '<day, time of day->')
      .replaceAll(fresh ? /(?<!\d)\d\d:\d\d:\d\d\b/g : /(?<!\d |20:|\d)(?!20:14:)\d\d:\d\d:\d\d\b/g, '<moment>')
      // When a token was used last: which commands were run before this one.
      .replaceAll(/(system +)2026-11-21 20:14:\d\d/g, '$1<day, time of day->')
      .replaceAll(/^(suz_)?[\w-]{40,}$/gm, '<secret>')
      .replaceAll(/#szm_[\w-]{43}/g, '#<code>')
      .replaceAll(/(node +)v[\d.]+/g, '$1v<version>')
      .replaceAll(/(engine ).+/g, '$1<version>')
      .replaceAll(/^(.*ok +.*git +)\d[\d.]+.*$/gm, '$1<version>')
      .replaceAll(/[\d.]+ .B of [\d.]+ .B free/g, '<size> of <size> free')
      .replaceAll(/[\d.]+ (?:bytes|.iB) (of files|of rows|free)/g, '<size> $1')
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
      .replaceAll(/\(process \d+\)/g, '(process <pid>)')
      .replaceAll(/(tokens, |turn \d+, |attempt \d+, |a worker, )(\d+ h \d+ min|\d+ min \d+ s|[\d.]+ m?s)/g, '$1<time>')
  );
}

/** Compares with what is checked in; `SUZUMIO_UPDATE_GOLDEN=1` checks in what there is. */
export async function expectGolden(name: string, text: string): Promise<void> {
  const file = goldenFile(name);
  if (process.env['SUZUMIO_UPDATE_GOLDEN'] === '1') {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    return;
  }
  if (!existsSync(file))
    throw new Error(`${file} is missing: run this test with SUZUMIO_UPDATE_GOLDEN=1 and look at it`);
  expect(text).toBe(await readFile(file, 'utf8'));
}

/** A pseudo-terminal of a known width. */
function inTerminal(words: readonly string[]): string {
  return `stty cols ${String(columns)} rows 30; exec ${words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')}`;
}

function shown(word: string): string {
  return /^[\w@%+=:,./#-]+$/.test(word) ? word : `"${word}"`;
}

function capture(mode: Mode): Output & { text(): string } {
  const written: Buffer[] = [];
  const isTerminal = mode === 'terminal';
  return {
    write: (more) => void written.push(Buffer.from(more)),
    drained: () => Promise.resolve(),
    text: () => Buffer.concat(written).toString(),
    isTerminal,
    colors: isTerminal,
    columns: isTerminal ? columns : undefined,
  };
}

function collect(stream: NodeJS.ReadableStream): { text(): string } {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => (text += chunk));
  return { text: () => text };
}
