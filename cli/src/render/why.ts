import type { WhyAnswer } from '@suzumio/shared/model/why';
import { oneLine } from '@suzumio/shared/prompt/body';
import { count } from './format.js';

/** What an agent is at, and every reason for it, the first to be dealt with first. */
export function renderWhy({ agent, state, unread, reasons }: WhyAnswer): string[] {
  const mail = unread === 0 ? '' : `, with ${count(unread, 'unread message')}`;
  const sentences = reasons.map(({ sentence }) => oneLine(sentence));
  return [`${agent} ${doing(state, reasons)}${mail}.`, ...sentences.map((sentence) => `- ${sentence}`)];
}

function doing(state: WhyAnswer['state'], [first]: WhyAnswer['reasons']): string {
  switch (state) {
    case 'quiet':
      return 'is quiet';
    case 'running':
      return first?.code === 'working' ? 'is at work' : 'has a turn that waits';
    case 'failed':
      return 'has failed';
    case 'stopped':
      return 'is stopped';
  }
}
