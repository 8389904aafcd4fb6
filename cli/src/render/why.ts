import type { WhyAnswer } from '@suzumio/contract/model/why';
import { oneLine } from '@suzumio/core/prompt/body';
import { count, wrap } from './format.js';

/** What an agent is at, and every reason for it, the first to be dealt with first. */
export function renderWhy({ agent, state, unread, reasons }: WhyAnswer, columns?: number): string[] {
  const mail = unread === 0 ? '' : `, with ${count(unread, 'unread message')}`;
  const sentences = reasons.map(({ sentence }) => oneLine(sentence));
  return [
    `${agent} ${doing(state, reasons)}${mail}.`,
    ...sentences.flatMap((sentence) => wrap(`- ${sentence}`, columns, { indent: '  ' })),
  ];
}

/** What each agent waits for first, those together that wait for the same. */
export function renderWhys(answers: readonly WhyAnswer[], columns?: number): string[] {
  const alike = Map.groupBy(answers, ({ reasons: [first] }) => first?.sentence ?? '');
  return [...alike].flatMap(([sentence, group]) => {
    const named = group.slice(0, mostNamed).map(({ agent }) => agent);
    const others = group.length > named.length ? ` and ${group.length - named.length} more` : '';
    return wrap(`${named.join(', ')}${others}: ${oneLine(sentence)}`, columns, { indent: '  ' });
  });
}

const mostNamed = 5;

function doing(state: WhyAnswer['state'], reasons: WhyAnswer['reasons']): string {
  const [first] = reasons;
  switch (state) {
    case 'quiet':
      return 'is quiet';
    case 'running':
      if (first?.code === 'working') return 'is at work';
      return reasons.some(({ code }) => code === 'working') ? 'was at work' : 'has a turn that waits';
    case 'failed':
      return 'has failed';
    case 'stopped':
      return 'is stopped';
    case 'retired':
      return 'was retired';
  }
}
