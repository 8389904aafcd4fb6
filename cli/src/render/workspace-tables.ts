import type { FileChange, WorkspaceChangeView, WorkspaceEntryView } from '@suzumio/contract/model/workspace';
import { oneLine } from '@suzumio/core/prompt/body';
import type { Session } from '../session.js';
import { changedFiles, dayAndTime, size } from './format.js';
import { type Cell, table, type Tone } from './table.js';

export function workspaceChangeTable(changes: readonly WorkspaceChangeView[], { context }: Session): string[] {
  const restored = changes.some(({ restoredTurn }) => restoredTurn !== null);
  return table(
    ['TURN', 'TIME', 'FILES CHANGED', ...(restored ? ['RESTORED'] : [])],
    changes.map(({ turnNumber, files, createdAt, restoredTurn, actor }) => [
      restoredTurn === null ? String(turnNumber) : '',
      dayAndTime(createdAt, context),
      files === null ? 'not counted' : changedFiles(files),
      ...(restoredTurn === null ? [] : [`to turn ${restoredTurn}, by ${oneLine(actor ?? '')}`]),
    ]),
    context.out,
  );
}

const tones: Readonly<Record<FileChange['change'], Tone>> = { added: 'good', changed: 'warning', removed: 'bad' };

export function fileChangeTable(changes: readonly FileChange[], { context }: Session): string[] {
  return table(
    ['CHANGE', 'SIZE', 'PATH'],
    changes.map(({ change, before, after, path }): Cell[] => [
      [change, tones[change]],
      [sizeOf(before), sizeOf(after)].filter((text) => text !== '').join(' -> '),
      oneLine(path),
    ]),
    context.out,
  );
}

function sizeOf(state: FileChange['before']): string {
  if (state === null) return '';
  return state.kind === 'link' ? 'link' : size(state.sizeBytes);
}

export function workspaceEntryTable(entries: readonly WorkspaceEntryView[], { context }: Session): string[] {
  return table(
    ['SIZE', 'NAME'],
    entries.map((entry) => [entry.kind === 'file' ? size(entry.sizeBytes) : '', nameOf(entry)]),
    context.out,
  );
}

function nameOf(entry: WorkspaceEntryView): string {
  const name = oneLine(entry.name);
  switch (entry.kind) {
    case 'directory':
      return `${name}/`;
    case 'link':
      return `${name} -> ${oneLine(entry.target)}`;
    case 'file':
      return entry.executable ? `${name}*` : name;
  }
}
