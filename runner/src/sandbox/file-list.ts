import type { SandboxInput } from '@suzumio/protocol/sandbox-tools/catalogue';
import { sized } from '@suzumio/protocol/sized';
import { SandboxRefusal } from './paths/refusal.js';
import { kindOf, missing, type Place } from './paths/roots.js';
import { type Found, walkDirectory } from './paths/walk-directory.js';
import { unignoredFiles } from './processes/ripgrep.js';
import type { Sandbox, SandboxCall, SandboxResponse } from './sandbox.js';
import { counted, firstBytes } from './text/legible.js';

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
      return answer(
        path,
        found,
        hasMore ? [`More than ${counted(found.length, 'entry', 'entries')}.`] : [],
        limits.shownBytes,
      );
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
    return answer(path, found, hasMore ? [`Go on with offset ${offset + found.length}.`] : [], most);
  } finally {
    await directory.close();
  }
}

const opened = ({ directory, name }: Place) => directory.enter(name);

function answer(path: string, found: readonly Found[], notes: readonly string[], most: number): SandboxResponse {
  const text = found.map(lineOf).join('\n');
  const shown = firstBytes(Buffer.from(text), most).toString();
  const told = [...(shown.length < text.length ? ['Cut at the most that is shown.'] : []), ...notes];
  if (found.length === 0) told.unshift('Nothing is there.');
  return {
    output: [...(shown === '' ? [] : [shown]), ...(told.length === 0 ? [] : [`[${told.join(' ')}]`])].join('\n'),
    metadata: { path, kind: 'directory', entries: found.length, truncated: told.length > 0 && found.length > 0 },
  };
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
