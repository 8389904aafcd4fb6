import type { FoundItem } from '@suzumio/contract/model/found';
import { oneLine } from '@suzumio/core/prompt/body';
import type { Session } from '../session.js';
import { excerpt } from './excerpt.js';
import { dayAndTime } from './format.js';
import { type Cell, table } from './table.js';

/** What was found, a line each. */
export function foundTable(items: readonly FoundItem[], { context }: Session): string[] {
  return table(
    ['KIND', 'PROJECT', 'WHICH', 'TIME', 'TEXT'],
    items.map((item): Cell[] => [
      item.kind,
      item.project,
      oneLine(whichOf(item)),
      'at' in item ? dayAndTime(item.at, context) : '',
      'found' in item ? excerpt(item.found, context.out) : oneLine(textOf(item)),
    ]),
    context.out,
  );
}

function whichOf(item: FoundItem): string {
  switch (item.kind) {
    case 'project':
      return item.status;
    case 'agent':
      return item.agent;
    case 'turn':
      return `${item.agent}:${item.turnNumber} ${item.status}`;
    case 'file':
      return item.artifact;
    case 'mail':
      return `${item.seq} ${item.sender} to ${item.to}`;
  }
}

function textOf(item: Extract<FoundItem, { kind: 'agent' | 'file' }>): string {
  if (item.kind === 'file') return `${item.name}, by ${item.creator}`;
  return item.displayName === null ? item.role : `${item.displayName}, ${item.role}`;
}
