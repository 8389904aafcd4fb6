import { artifactsPath } from '@suzumio/protocol/own-artifacts';
import type { TopEntry } from '@suzumio/protocol/workspace-snapshot';
import { oneLine, visibleLines } from './body.js';

/** What is at the top of a workspace; `too-many` where that is not known, for there is too much. */
export type WorkspaceTop = readonly TopEntry[] | 'too-many';

const maxEntries = 60;
const maxBytes = 4 * 1024;

/**
 * The section on the workspace; nothing without one. Names are the agents' own, or of whoever wrote the files: each stands
 * on one line, which is indented, so that none passes for a heading or a frame. Counts are in the heading for the same reason.
 */
export function renderWorkspace(top: WorkspaceTop | undefined): string[] {
  if (top === undefined) return [];
  if (top === 'too-many') return ['# Workspace: more entries than are listed here', ''];
  if (top.length === 0) return ['# Workspace: empty', ''];
  const lines = listed(top);
  const count = `${String(top.length)} ${top.length === 1 ? 'entry' : 'entries'}`;
  const note = lines.length < top.length ? `, ${String(lines.length)} of them here` : '';
  return [`# Workspace: ${count}${note}`, ...lines, ''];
}

/** Directories first: they tell most of what is there. */
function listed(top: readonly TopEntry[]): string[] {
  const [directories, others] = [true, false].map((is) => top.filter(({ kind }) => (kind === 'directory') === is));
  const lines: string[] = [];
  let bytes = 0;
  for (const entry of [...(directories ?? []), ...(others ?? [])].slice(0, maxEntries)) {
    const line = `  ${lineOf(entry)}`;
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > maxBytes) break;
    lines.push(line);
  }
  return lines;
}

function lineOf(entry: TopEntry): string {
  const name = oneLine(entry.name);
  if (entry.kind === 'file') return `${name}, ${String(entry.sizeBytes)} bytes`;
  return entry.kind === 'directory' ? `${name}/` : `${name}, link`;
}

/** How an agent's last turn failed. */
export interface LastFailure {
  readonly code: string;
  /** It may quote what a program said. */
  readonly message: string;
}

const maxMessageChars = 600;

/** The section on a last turn that failed, for an agent that can do something about it; nothing without one. */
export function renderLastFailure(failure: LastFailure | undefined): string[] {
  if (failure === undefined) return [];
  const lines = visibleLines(`${failure.code}: ${failure.message.slice(0, maxMessageChars)}`);
  return [
    '# Your last turn failed',
    ...lines.map((line) => `  ${line}`),
    'Your workspace is as it was when you were last asked or called another tool.',
    '',
  ];
}

/** What became of the files of an agent's last turn. */
export interface LastFiles {
  /** Why they could not be stored. */
  readonly unsaved?: { readonly code: string; readonly message: string } | undefined;
  /** What no snapshot holds. */
  readonly leftOut?: { readonly count: number; readonly names: readonly string[] } | undefined;
  /** What of its own artifacts was not published. */
  readonly unpublished?:
    | { readonly count: number; readonly items: readonly { readonly name: string; readonly why: string }[] }
    | undefined;
}

/** The sections on files that an agent made and does not find again; nothing where it finds all. */
export function renderLastFiles({ unsaved, leftOut, unpublished }: LastFiles = {}, agent = ''): string[] {
  return [
    ...(unsaved === undefined
      ? []
      : [
          '# Your files are older than your last turn',
          ...visibleLines(`${unsaved.code}: ${unsaved.message.slice(0, maxMessageChars)}`).map((line) => `  ${line}`),
          'So your workspace was not stored when that turn ended. It is as it was when you were last asked or called another tool.',
          '',
        ]),
    ...(leftOut === undefined
      ? []
      : [
          `# Not kept of your last turn's workspace: ${String(leftOut.count)}`,
          ...leftOut.names.map((name) => `  ${oneLine(name)}`),
          ...(leftOut.count > leftOut.names.length ? ['  and more'] : []),
          'Pipes, sockets and devices are not kept, nor what has a name that is not UTF-8.',
          '',
        ]),
    ...(unpublished === undefined
      ? []
      : [
          `# Not published of ${artifactsPath}/${oneLine(agent)}: ${String(unpublished.count)}`,
          ...unpublished.items.map(({ name, why }) => `  ${oneLine(name)}: ${oneLine(why)}`),
          ...(unpublished.count > unpublished.items.length ? ['  and more'] : []),
          '',
        ]),
  ];
}
