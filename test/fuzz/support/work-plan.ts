import { execFileSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** What is killed while a turn works. */
export type Victim = 'runner' | 'worker' | 'toolhost';

/** One call of an answer. */
export type Work =
  /** A command that must take effect exactly once. */
  | { kind: 'shell'; command: string; killed?: Kill | undefined }
  | { kind: 'write'; path: string; content: string }
  /** Replaces a text wherever a file has it, and is refused where it has none. */
  | { kind: 'edit'; path: string; search: string; replace: string }
  /** Reads the file `n`. */
  | { kind: 'read' }
  | { kind: 'list' }
  | { kind: 'search'; pattern: string }
  | { kind: 'mail'; body: string }
  /** Publishes the file `n` under a name. */
  | { kind: 'publish'; name: string }
  /** Writes what was published under a name to a path. */
  | { kind: 'fetch'; name: string; path: string }
  /** Publishes a patch that adds a file. */
  | { kind: 'propose'; name: string; path: string; content: string }
  | { kind: 'apply'; name: string };

/** A kill that is asked for, once, in the middle of a command; `waits` where the command does not go on before it. */
export interface Kill {
  victim: Victim;
  afterMs: number;
  waits: boolean;
}

/** A turn's work: the calls of each answer, and what is killed while its model answers. */
export interface Plan {
  agent: string;
  answers: readonly (readonly Work[])[];
  killedAt: ReadonlyMap<number, Victim>;
}

type Random = () => number;

const kinds = [
  ...(['append', 'append', 'append', 'count', 'count', 'move', 'remove', 'write', 'edit', 'apply'] as const),
  ...(['read', 'list', 'search', 'mail', 'mail', 'publish', 'fetch'] as const),
] as const;

const oneOf = <const Value>(random: Random, values: readonly [Value, ...Value[]]): Value =>
  values[Math.floor(random() * values.length)] ?? values[0];

/** Mostly runners: what kills a service interrupts the turns of all others, too. */
const victimOf = (random: Random): Victim =>
  random() < 0.7 ? 'runner' : oneOf<Victim>(random, ['worker', 'toolhost']);

export function planOf(agent: string, random: Random): Plan {
  const published: string[] = [];
  const work = (answer: number, call: number): Work | Work[] => {
    const place = `${agent}-${String(answer)}-${String(call)}`;
    const file = oneOf(random, ['a', 'b', 'sub/c']);
    switch (oneOf(random, kinds)) {
      case 'append':
        return shell(`mkdir -p sub && echo ${place} >> ${file}`, random);
      case 'count':
        return shell('n=$(cat n); echo $((n + 1)) > n', random);
      case 'move':
        return shell(`mkdir -p moved && if [ -e ${file} ]; then mv ${file} moved/${place}; fi`, random);
      case 'remove':
        return shell(`rm -rf ${file} && ln -sf n link && chmod +x n`, random);
      case 'write':
        return { kind: 'write', path: `written-${String(answer % 3)}`, content: `${place}\n` };
      case 'edit':
        return { kind: 'edit', path: oneOf(random, ['a', 'written-0']), search: 'worker', replace: `edited-${call}` };
      case 'apply':
        return [
          { kind: 'propose', name: `${place}.patch`, path: `${place}.md`, content: place },
          { kind: 'apply', name: `${place}.patch` },
        ];
      case 'read':
        return { kind: 'read' };
      case 'list':
        return { kind: 'list' };
      case 'search':
        return { kind: 'search', pattern: place };
      case 'mail':
        return { kind: 'mail', body: place };
      case 'publish':
        published.push(place);
        return { kind: 'publish', name: place };
      case 'fetch': {
        const [first, ...others] = published;
        return first === undefined
          ? { kind: 'mail', body: place }
          : { kind: 'fetch', name: oneOf(random, [first, ...others]), path: 'a' };
      }
    }
  };
  const count = 3 + Math.floor(random() * 4);
  const answers = Array.from({ length: count }, (_, answer) =>
    Array.from({ length: 1 + Math.floor(random() * 3) }, (_call, call) => work(answer, call)).flat(),
  );
  const killedAt = new Map<number, Victim>();
  if (random() < 0.3) killedAt.set(Math.floor(random() * (count + 1)), victimOf(random));
  return { agent, answers: [[shell('echo 0 > n', random)], ...answers], killedAt };
}

function shell(command: string, random: Random): Work {
  if (random() > 0.2) return { kind: 'shell', command };
  const victim = victimOf(random);
  const waits = victim !== 'toolhost' && random() < 0.5;
  return { kind: 'shell', command, killed: { victim, afterMs: waits ? 0 : Math.floor(random() * 150), waits } };
}

/**
 * A command that asks, when it has done its work for the first time, that something be killed: by a file in `signals`, once.
 *
 * @param place names the command among all
 */
export function commandOf(
  { command, killed }: Extract<Work, { kind: 'shell' }>,
  signals: string,
  place: string,
): string {
  if (!killed) return command;
  const { victim, afterMs, waits } = killed;
  const asked = join(signals, `${place}.asked`);
  const ask = `echo "${victim} ${String(afterMs)} $PPID" > ${asked}.tmp && mv ${asked}.tmp ${join(signals, `${place}.kill`)}`;
  return `${command}; if mkdir ${asked} 2>/dev/null; then ${ask}; ${waits ? 'sleep 4' : 'true'}; fi`;
}

/** What a work plan comes to when all of it has taken effect once. */
export interface Outcome {
  /** What is in the workspace: files by their content, links by where they lead. */
  tree: Record<string, string>;
  mail: string[];
  /** What `read` told, in order. */
  read: string[];
}

/** Does the work of a plan in a directory of its own. */
export function expectedOutcome({ answers }: Plan, directory: string): Outcome {
  mkdirSync(directory, { recursive: true });
  const at = (path: string) => join(directory, path);
  const published = new Map<string, Buffer>();
  const mail: string[] = [];
  const read: string[] = [];
  for (const work of answers.flat()) {
    switch (work.kind) {
      case 'shell':
        execFileSync('bash', ['-c', work.command], { cwd: directory });
        break;
      case 'write':
        writeFileSync(at(work.path), work.content);
        break;
      case 'edit':
        if (existsSync(at(work.path)))
          writeFileSync(at(work.path), readFileSync(at(work.path), 'utf8').replaceAll(work.search, work.replace));
        break;
      case 'read':
        read.push(readFileSync(at('n'), 'utf8').trimEnd());
        break;
      case 'mail':
        mail.push(work.body);
        break;
      case 'publish':
        published.set(work.name, readFileSync(at('n')));
        break;
      case 'fetch':
        writeFileSync(at(work.path), published.get(work.name) ?? '');
        break;
      case 'propose':
        // It is applied by the next call.
        writeFileSync(at(work.path), `${work.content}\n`);
        break;
      case 'list':
      case 'search':
      case 'apply':
    }
  }
  return { tree: treeIn(directory), mail, read };
}

function treeIn(directory: string): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(directory.length + 1);
    if (entry.isSymbolicLink()) tree[name] = linkText(readlinkSync(path));
    else if (entry.isFile()) tree[name] = fileText(isExecutable(path), readFileSync(path, 'utf8'));
  }
  return tree;
}

/** How a tree shows a link. */
export const linkText = (target: string) => `-> ${target}`;

/** How a tree shows a file. */
export const fileText = (executable: boolean, content: string) => `${executable ? 'runs: ' : ''}${content}`;

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A patch that adds a file of one line. */
export const patchAdding = (path: string, line: string) => `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${line}\n`;
