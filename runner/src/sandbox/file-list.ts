import type { SandboxInput } from '@suzumio/protocol/sandbox-tools/catalogue';
import { sized } from '@suzumio/protocol/sized';
import { SandboxRefusal } from './paths/refusal.js';
import { accentsOf, kindOf, missing, type Place } from './paths/roots.js';
import { type Found, walkDirectory } from './paths/walk-directory.js';
import { unignoredFiles } from './processes/ripgrep.js';
import type { Sandbox, SandboxCall, SandboxResponse } from './sandbox.js';
import { counted } from './text/legible.js';

export async function listFiles(
  { path, recursive, maxEntries, gitignore }: SandboxInput<'file.list'>,
  { roots, env, limits }: Sandbox,
  { signal }: SandboxCall,
): Promise<SandboxResponse> {
  return roots.at(path, {}, async (place) => {
    const { facts } = place;
    if (!facts) throw await missing(place);
    if (!facts.isDirectory()) {
      throw new SandboxRefusal('not-a-directory', `${JSON.stringify(path)} is ${kindOf(facts)}, not a directory.`);
    }
    const isWanted = gitignore ? await unignored(place, { env, signal, timeoutMs: limits.searchMs }) : undefined;
    const options = { recursive, most: maxEntries, signal, ...(isWanted === undefined ? {} : { isWanted }) };
    const directory = await opened(place);
    try {
      const { found, hasMore } = await walkDirectory(directory, options);
      return answer(path, found, limits.shownBytes, (shown, hasAll) => {
        if (hasAll && !hasMore) return undefined;
        const more = hasAll ? `More than ${counted(shown, 'entry', 'entries')}` : `The first ${shown} entries`;
        // What is shown of one directory is in the same order there.
        if (!recursive && !gitignore) return `${more}; file.read with offset ${shown + 1} shows the next ones.`;
        return `${more}; list a directory of it${hasAll ? ', or more with maxEntries' : ''}.`;
      });
    } finally {
      await directory.close();
    }
  });
}

/** Some entries of a directory, for those who read one as if it were a file. */
export async function listDirectory(
  place: Place,
  { path, offset, limit, maxBytes: most }: SandboxInput<'file.read'>,
  signal: AbortSignal,
): Promise<SandboxResponse> {
  const directory = await opened(place);
  try {
    const options = { recursive: false, skip: offset - 1, most: limit, signal };
    const { found, hasMore } = await walkDirectory(directory, options);
    return answer(path, found, most, (shown, hasAll) =>
      hasAll && !hasMore ? undefined : `Go on with offset ${offset + shown}.`,
    );
  } finally {
    await directory.close();
  }
}

const opened = ({ directory, name }: Place) => directory.enter(name);

/** @param goOn what shows what is after some entries, where there is more */
function answer(
  path: string,
  found: readonly Found[],
  most: number,
  goOn: (shown: number, hasAll: boolean) => string | undefined,
): SandboxResponse {
  const lines = withTwins(found);
  let [shownLines, bytes] = [0, 0];
  for (const line of lines) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > most && shownLines > 0) break;
    shownLines += 1;
  }
  const shown = lines.slice(0, shownLines).join('\n');
  const note = goOn(shownLines, shownLines === lines.length);
  const told = note === undefined ? [] : [note];
  if (found.length === 0) told.unshift('Nothing is there.');
  return {
    output: [...(shown === '' ? [] : [shown]), ...(told.length === 0 ? [] : [`[${told.join(' ')}]`])].join('\n'),
    metadata: { path, kind: 'directory', entries: shownLines, truncated: note !== undefined },
  };
}

/** The lines of entries; of those that are in print as another one, how they are written. */
function withTwins(found: readonly Found[]): string[] {
  const forms = new Map<string, number>();
  for (const { path } of found) forms.set(path.normalize('NFC'), (forms.get(path.normalize('NFC')) ?? 0) + 1);
  return found.map((entry) => {
    const isTwin = (forms.get(entry.path.normalize('NFC')) ?? 0) > 1;
    return isTwin ? `${lineOf(entry)} [another looks the same; this is ${accentsOf(entry.path)}]` : lineOf(entry);
  });
}

function lineOf({ path, facts, target, isClosed }: Found): string {
  // A name may have any character; a line is to be one entry.
  const name = /[\p{Cc}\\]/u.test(path) ? JSON.stringify(path) : path;
  if (target !== undefined) return `${name} -> ${target}`;
  if (facts.isDirectory()) return isClosed === true ? `${name}/ [not entered]` : `${name}/`;
  return facts.isFile() ? `${name}\t${sized(facts.size)}` : `${name}\t[${kindOf(facts)}]`;
}

/** Whether paths are, or have below them, files that no `.gitignore` names. */
async function unignored(
  place: Place,
  options: Parameters<typeof unignoredFiles>[1],
): Promise<(path: string) => boolean> {
  const directory = await opened(place);
  try {
    const wanted = new Set<string>();
    for (const file of await unignoredFiles(directory.self, options)) {
      for (
        let path = file;
        path !== '' && !wanted.has(path);
        path = path.slice(0, Math.max(0, path.lastIndexOf('/')))
      ) {
        wanted.add(path);
      }
    }
    return (path) => wanted.has(path);
  } finally {
    await directory.close();
  }
}
