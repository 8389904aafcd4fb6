import { askedTokens, type AskedSize } from '@suzumio/core/budgets/model-cost';
import { defaultContextLimit, type SinglePreset } from '@suzumio/core/budgets/presets';
import type { ChatPurpose, ChatRequest } from '@suzumio/protocol/model-chat';
import { acceptedBefore } from '@suzumio/store/models/accepted-before';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import type { ProviderFailure } from './provider-failure.js';

/** Shorter results are not shortened any further. */
const minResultChars = 1_000;

/** A question that got a refusal without words. */
interface RefusedQuestion {
  readonly turn: string;
  readonly step: string;
  readonly purpose: ChatPurpose;
  readonly size: AskedSize;
  readonly settings: SinglePreset;
  readonly request: ChatRequest;
}

/**
 * Whether a refusal without words may be for the length of its question: above half of the context, or above twice what was
 * accepted in the turn, and only where results can be shortened. An error of a server has to come twice.
 */
export function mayBeTooLong(reader: SqlReader, failure: ProviderFailure, asked: RefusedQuestion): boolean {
  const { turn, step, purpose, size, settings, request } = asked;
  if (!failure.maybeTooLong || purpose !== 'turn' || resultChars(request) <= minResultChars) return false;
  const { tokens, hasFailed } = acceptedBefore(reader, turn, step);
  if (failure.kind === 'unavailable' && !hasFailed) return false;
  const length = askedTokens(settings, size);
  return length > (settings.contextLimit ?? defaultContextLimit) / 2 || (tokens > 0 && length > 2 * tokens);
}

function resultChars({ messages }: ChatRequest): number {
  return messages.reduce(
    (sum, { role, content }) => sum + (role === 'tool' && typeof content === 'string' ? content.length : 0),
    0,
  );
}
