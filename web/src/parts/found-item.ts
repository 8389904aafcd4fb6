import type { FoundItem } from '@suzumio/sdk/client';
import type { MarkKind } from './mark-kind.js';
import { agentPath, filePath, mailPath, turnPath } from './places.js';
import { stateOfAttempt } from './states.js';

/** Where what was found is shown. */
export function placeOf(item: FoundItem): string {
  switch (item.kind) {
    case 'project':
      return `/p/${item.project}`;
    case 'agent':
      return agentPath(item.project, item.agent);
    case 'turn':
      return turnPath(item.project, item.agent, item.turnNumber);
    case 'file':
      return filePath(item.project, item.artifact);
    case 'mail':
      return mailPath(item.project, item.seq);
  }
}

/** What was found, in a few words. */
export function wordsFor(item: FoundItem): { mark?: MarkKind; title: string; where: string } {
  switch (item.kind) {
    case 'project':
      return { title: item.project, where: item.status };
    case 'agent': {
      const name = item.displayName ?? item.agent;
      return { title: `${name}, ${item.role}`, where: item.project };
    }
    case 'turn': {
      const { mark, word } =
        item.status === 'queued' ? ({ mark: 'queued', word: 'waits' } as const) : stateOfAttempt(item.status);
      return { mark, title: `${item.agent}, turn ${item.turnNumber}: ${word}`, where: item.project };
    }
    case 'file':
      return { title: item.name, where: `${item.project}, by ${item.creator}` };
    case 'mail':
      return {
        mark: 'message',
        title: `${item.sender} to ${item.to === 'user' ? 'you' : item.to}`,
        where: item.project,
      };
  }
}
