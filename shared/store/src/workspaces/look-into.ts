import type { WorkspaceEntryView } from '@suzumio/contract/model/workspace';
import type { OpenedDirectory, OpenedEntry } from '@suzumio/protocol/workspace-snapshot';

/** What is at a path of a snapshot. */
export type Found =
  | { kind: 'directory'; items: WorkspaceEntryView[]; next?: string }
  | Exclude<WorkspaceEntryView, { kind: 'directory' }>;

/**
 * Finds a file, or a part of what is in a directory.
 *
 * @param path without one, the root
 * @returns undefined where nothing is there. Links are not followed
 */
export async function lookInto(
  root: OpenedDirectory | undefined,
  path: string,
  { limit, after = '' }: { limit: number; after?: string | undefined },
): Promise<Found | undefined> {
  let directory = root;
  let entry: OpenedEntry | undefined;
  for (const part of path.split('/').filter((name) => name !== '' && name !== '.')) {
    if (entry !== undefined && entry.kind !== 'directory') return undefined;
    entry = directory?.entries.find(({ name }) => name === part);
    if (entry === undefined) return undefined;
    if (entry.kind === 'directory') directory = await entry.open();
  }
  if (entry !== undefined && entry.kind !== 'directory') return entry;
  const rest = (directory?.entries ?? []).filter(({ name }) => name > after);
  const items = rest.slice(0, limit).map(viewOf);
  const next = rest.length > limit ? items.at(-1)?.name : undefined;
  return { kind: 'directory', items, ...(next === undefined ? {} : { next }) };
}

function viewOf(entry: OpenedEntry): WorkspaceEntryView {
  return entry.kind === 'directory' ? { kind: 'directory', name: entry.name } : entry;
}
