import type { BudgetChange } from '@suzumio/contract/model/budget';
import type { Decision, InboxItem } from '@suzumio/contract/model/inbox';
import { oneLine } from '@suzumio/core/prompt/body';
import type { Session } from '../session.js';
import { count, dayAndTime, dollars } from './format.js';
import { type Cell, table, type Toned } from './table.js';

/** What waits for a person, and what agents sent them, a line each. */
export function ownInboxTable(items: readonly InboxItem[], { context }: Session): string[] {
  const someRead = items.some(({ read }) => read);
  return table(
    ['WHAT', 'PROJECT', 'FROM', 'TIME', ...(someRead ? ['READ'] : []), 'TEXT'],
    items.map((item): Cell[] => [
      kindOf(item),
      item.project ?? 'all',
      fromOf(item),
      'at' in item ? dayAndTime(item.at, context) : '',
      ...(someRead ? [item.read ? (['read', 'quiet'] as const) : ''] : []),
      oneLine(textOf(item)),
    ]),
    context.out,
  );
}

function kindOf(item: InboxItem): Toned {
  switch (item.kind) {
    case 'failure':
      return ['failed', 'bad'];
    case 'pause':
      return ['paused', 'warning'];
    case 'budget':
      return ['budget', item.used >= item.max ? 'bad' : 'warning'];
    case 'model':
      return ['model', 'bad'];
    case 'report':
      return ['report', 'good'];
    case 'message':
      return item.message.priority;
  }
}

function fromOf(item: InboxItem): string {
  switch (item.kind) {
    case 'report':
      return '';
    case 'model':
      return item.preset;
    case 'message':
      return item.message.sender;
    case 'failure':
    case 'pause':
    case 'budget':
      return item.agent ?? '';
  }
}

function textOf(item: InboxItem): string {
  switch (item.kind) {
    case 'report':
      return `version ${item.version} waits for you`;
    case 'failure':
      return `${item.code} in turn ${item.turnNumber}: ${item.message}`;
    case 'pause':
      return `by ${item.pause.by}${item.pause.reason === null ? '' : `: ${item.pause.reason}`}`;
    case 'budget': {
      const amount = (value: number) => (item.limit === 'usd' ? dollars(value) : `${value}`);
      const unit = item.limit === 'usd' ? '' : ` ${item.limit}`;
      return `${amount(item.used)} of ${amount(item.max)}${unit} used`;
    }
    case 'model':
      return `${item.code}: ${item.message}`;
    case 'message':
      return item.message.excerpt;
  }
}

/** What people decided, a line each. */
export function decidedTable(items: readonly Decision[], { context }: Session): string[] {
  return table(
    ['TIME', 'PROJECT', 'BY', 'WHAT'],
    items.map((item): Cell[] => [dayAndTime(item.at, context), item.project, item.by, oneLine(decisionIn(item))]),
    context.out,
  );
}

function decisionIn(item: Decision): string {
  switch (item.kind) {
    case 'approved':
      return `approved the report${versionOf(item)}`;
    case 'changes-requested':
      return `asked ${item.recipient ?? 'an agent'} for changes to the report${versionOf(item)}`;
    case 'retried':
      return `retried ${item.agent}${item.turnNumber === null ? '' : `, turn ${item.turnNumber}`}`;
    case 'reset': {
      const unread = item.redelivered === 0 ? '' : `: ${count(item.redelivered, 'message')} unread again`;
      return `reset ${item.agent}${unread}`;
    }
    case 'budget-changed':
      return `changed the budget of ${item.agent ?? 'the project'}: ${limitsIn(item.limits)}`;
    case 'resumed':
      return `resumed ${item.agent ?? 'the project'}`;
  }
}

function versionOf({ version }: { version: number | null }): string {
  return version === null ? '' : `, version ${version}`;
}

function limitsIn({ usd, tokens, turns }: BudgetChange): string {
  const limits = [
    usd === undefined ? [] : [typeof usd === 'number' ? dollars(usd) : `dollars ${usd}`],
    tokens === undefined ? [] : [typeof tokens === 'number' ? count(tokens, 'token') : `tokens ${tokens}`],
    turns === undefined ? [] : [typeof turns === 'number' ? count(turns, 'turn') : `turns ${turns}`],
  ].flat();
  return limits.join(', ');
}
