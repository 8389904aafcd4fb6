import { type DirectoryEntry, manifestBytes } from '@suzumio/protocol/workspace-manifest';
import { byName } from '@suzumio/protocol/workspace-snapshot';
import type { ContentStore } from '@suzumio/store/content/content-store';

/** Files of a workspace by their paths: texts, bytes, programs, links, and directories with nothing in them. */
export type Tree = Readonly<Record<string, string | Buffer | { run: string } | { link: string } | { empty: true }>>;

/** Stores a workspace as a worker captures it, and returns its snapshot; null where it is empty. */
export async function storeTree(content: ContentStore, tree: Tree): Promise<string | null> {
  const entries: DirectoryEntry[] = [];
  const below = new Map<string, Record<string, Tree[string]>>();
  for (const [path, what] of Object.entries(tree)) {
    const [name = '', ...rest] = path.split('/');
    if (rest.length > 0) below.set(name, { ...below.get(name), [rest.join('/')]: what });
    else if (typeof what === 'object' && 'empty' in what) below.set(name, { ...below.get(name) });
    else if (typeof what === 'object' && 'link' in what) entries.push({ kind: 'link', name, target: what.link });
    else {
      const executable = typeof what === 'object' && 'run' in what;
      const bytes = Buffer.from(executable ? what.run : what);
      const sha256 = await content.putBytes(bytes);
      entries.push({ kind: 'file', name, sha256, sizeBytes: bytes.length, executable });
    }
  }
  for (const [name, inside] of below) {
    entries.push({ kind: 'directory', name, sha256: (await storeTree(content, inside)) ?? (await emptyIn(content)) });
  }
  return entries.length === 0 ? null : content.putBytes(manifestBytes(entries.sort(byName)));
}

const emptyIn = (content: ContentStore) => content.putBytes(manifestBytes([]));
