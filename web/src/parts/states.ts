import { visible } from './visible.js';
import type { Agent, Attempt, Project, Turn } from '@suzumio/sdk/client';
import type { MarkKind } from './mark-kind.js';

/**
 * A project's state in a word, as it is drawn.
 *
 * @param hasFailed whether one of its agents has failed, and waits for a person
 */
export function stateOfProject(
  { status, paused, turns }: Pick<Project, 'status' | 'paused' | 'turns'>,
  hasFailed: boolean,
): State {
  if (status === 'submitted') return { mark: 'report', word: 'report submitted' };
  if (status === 'completed') return { mark: 'done', word: 'done' };
  if (status === 'stopped') return { mark: 'stopped', word: 'stopped' };
  if (status === 'initialized') return { mark: 'quiet', word: 'not started' };
  if (paused !== null) return { mark: 'paused', word: 'paused' };
  if (turns.active > 0) return { mark: 'running', word: 'running' };
  return hasFailed ? { mark: 'failed', word: 'an agent failed' } : { mark: 'quiet', word: 'quiet' };
}

/** An agent's state in a word, as it is drawn. */
export function stateOfAgent({ state, paused, activeTurn, unread }: Agent): State {
  if (state === 'failed') return { mark: 'failed', word: 'failed' };
  if (state === 'stopped') return { mark: 'stopped', word: 'stopped' };
  if (state === 'retired') return { mark: 'stopped', word: 'retired' };
  if (activeTurn?.status === 'running') return { mark: 'running', word: `turn ${activeTurn.number}` };
  if (paused !== null) return { mark: 'paused', word: 'paused' };
  if (activeTurn) return { mark: 'queued', word: `turn ${activeTurn.number} is next` };
  return unread > 0 ? { mark: 'queued', word: 'has mail' } : { mark: 'quiet', word: 'quiet' };
}

/** A turn's state in a word, as it is drawn. */
export function stateOfTurn({ status, attempt }: Pick<Turn, 'status' | 'attempt'>): State {
  if (status === 'queued') return { mark: 'queued', word: attempt === 0 ? 'is next' : 'waits to go on' };
  return stateOfAttempt(status);
}

/** The state of a turn or of one attempt, once it has begun. */
export function stateOfAttempt(status: Attempt['status']): State {
  if (status === 'running') return { mark: 'running', word: 'running' };
  if (status === 'completed') return { mark: 'done', word: 'done' };
  return status === 'failed' ? { mark: 'failed', word: 'failed' } : { mark: 'stopped', word: 'cancelled' };
}

export interface State {
  mark: MarkKind;
  word: string;
}

/** The name that an agent is called by. */
export function nameOf({ displayName, id }: Pick<Agent, 'displayName' | 'id'>): string {
  return visible(displayName ?? id);
}
