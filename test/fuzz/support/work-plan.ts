import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is killed while a turn works. */
export type Victim = 'runner' | 'worker' | 'toolhost';

/** One call of an answer. */
export type Work =
  /** A command that must take effect exactly once. */
  | { kind: 'shell'; command: string; killed?: Kill | undefined }
  | { kind: 'write'; path: string; content: string }
  | { kind: 'mail'; body: string }
  /** Publishes the file `n` under a name. */
  | { kind: 'publish'; name: string }
  /** Writes what was published under a name to a path. */
  | { kind: 'fetch'; name: string; path: string };

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

const oneOf = <const Value>(random: Random, values: readonly [Value, ...Value[]]): Value =>
  values[Math.floor(random() * values.length)] ?? values[0];

/** Mostly runners: what kills a service interrupts the turns of all others, too. */
const victimOf = (random: Random): Victim =>
  random() < 0.7 ? 'runner' : oneOf<Victim>(random, ['worker', 'toolhost']);

export function planOf(agent: string, random: Random): Plan {
  const published: string[] = [];
  const work = (answer: number, call: number): Work => {
    const place = `${agent}-${String(answer)}-${String(call)}`;
    const file = oneOf(random, ['a', 'b', 'sub/c']);
    switch (oneOf(random, ['append', 'append', 'count', 'move', 'remove', 'write', 'mail', 'publish', 'fetch'])) {
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
    Array.from({ length: 1 + Math.floor(random() * 3) }, (_call, call) => work(answer, call)),
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

/** What a plan leaves in its workspace when all of it has taken effect once: done in a directory of its own. */
export function expectedFiles({ answers }: Plan, directory: string): Record<string, string> {
  mkdirSync(directory, { recursive: true });
  const published = new Map<string, Buffer>();
  for (const work of answers.flat()) {
    if (work.kind === 'shell') execFileSync('bash', ['-c', work.command], { cwd: directory });
    else if (work.kind === 'write') writeFileSync(join(directory, work.path), work.content);
    else if (work.kind === 'publish') published.set(work.name, readFileSync(join(directory, 'n')));
    else if (work.kind === 'fetch') writeFileSync(join(directory, work.path), published.get(work.name) ?? '');
  }
  const found = readdirSync(directory, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    found
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(directory.length + 1), readFileSync(path, 'utf8')]),
  );
}
