import type { ConversationEntry } from '@suzumio/contract/model/conversation';
import type { TurnDetail } from '@suzumio/contract/model/turn';
import { oneLine, visibleLines } from '@suzumio/core/prompt/body';
import { dollars, readings, tokensIn } from './format.js';

const titles: Readonly<Record<ConversationEntry['kind'], string>> = {
  instructions: 'told first',
  memory: 'remembered',
  earlier: 'an earlier turn',
  prompt: 'prompt',
  answer: 'answer',
  result: 'result',
};

/** A turn's conversation with its model, question by question. */
export function renderConversation(
  turn: Pick<TurnDetail, 'attempt' | 'modelCalls'>,
  entries: readonly ConversationEntry[],
): string[] {
  const lines = entries.flatMap((entry) => [
    '',
    heading(entry, turn.attempt),
    ...thoughts(entry),
    ...passage(entry),
    ...calls(entry),
  ]);
  const scripted = turn.modelCalls.length === 0 && entries.length > 0;
  const notice = scripted ? ['', 'No model was asked: a script stands for it, or its runner asks one by itself.'] : [];
  return [...lines, ...notice].slice(1);
}

function heading(
  { kind, role, step, attempt, tool, status, code, answer }: ConversationEntry,
  attempts: number,
): string {
  const parts = [step === null ? `[${titles[kind]}]` : `[${step}] ${titles[kind]}`];
  if (kind === 'earlier') parts.push(role);
  if (tool !== null) parts.push(oneLine(tool));
  if (status === 'running') parts.push('running');
  if (code !== null) parts.push(code);
  if (answer) {
    parts.push(oneLine(answer.model ?? answer.preset));
    parts.push(`${tokensIn(answer)} tokens in, ${answer.outputTokens} out${answer.estimated ? ' (estimated)' : ''}`);
    if (answer.reading !== null && answer.reading !== 'notes') parts.push(readings[answer.reading]);
    if (answer.costUsd > 0) parts.push(dollars(answer.costUsd));
    if (answer.finishReason !== null && answer.finishReason !== 'stop') parts.push(oneLine(answer.finishReason));
  }
  if (kind !== 'instructions' && attempt !== null && attempt < attempts) {
    parts.push(`attempt ${attempt}; given again from the journal`);
  }
  return parts.join('  ');
}

function thoughts({ thoughts: thought }: ConversationEntry): string[] {
  return thought === '' ? [] : ['  thoughts', ...visibleLines(thought).map((line) => `  | ${line}`.trimEnd())];
}

function passage({ text, cutChars }: ConversationEntry): string[] {
  const shown = text === '' ? [] : visibleLines(text.trimEnd()).map((line) => `  ${line}`.trimEnd());
  return cutChars === 0 ? shown : [...shown, `  (${cutChars} more characters)`];
}

function calls({ calls: made, moreCalls }: ConversationEntry): string[] {
  const shown = made.map(
    ({ name, arguments: written }) => `  calls ${oneLine(name)} ${visibleLines(written).join(' ')}`,
  );
  return moreCalls === 0 ? shown : [...shown, `  and ${moreCalls} more calls`];
}
