import type { Decision, InboxItem } from '@suzumio/sdk/client';
import type { MarkKind } from '../../parts/mark-kind.js';
import { count, dollars, some, limitsIn } from '../../parts/numbers.js';
import { agentPath, mailPath, turnPath } from '../../parts/places.js';

export const marks: Readonly<Record<InboxItem['kind'], MarkKind>> = {
  report: 'report',
  failure: 'failed',
  pause: 'paused',
  budget: 'budget',
  model: 'failed',
  message: 'message',
};

const limits = { tokens: 'tokens', usd: 'of money', turns: 'turns' } as const;

/** An item in a sentence. */
export function wordsFor(item: InboxItem): { title: string; text: string } {
  switch (item.kind) {
    case 'report':
      return {
        title: `The report is submitted, version ${item.version}`,
        text: 'Read it, then approve it or ask for changes.',
      };
    case 'failure':
      return {
        title: `${item.displayName ?? item.agent} failed in turn ${item.turnNumber}: ${item.code}`,
        text: item.message,
      };
    case 'pause': {
      const who = item.displayName ?? item.agent ?? (item.project === null ? 'Every project' : 'The project');
      return { title: `${who} is paused`, text: item.pause.reason ?? `By ${item.pause.by}.` };
    }
    case 'budget': {
      const shown = (value: number) =>
        item.limit === 'usd' ? dollars(value) : `${count(value)} ${limits[item.limit]}`;
      const name = item.displayName ?? item.agent;
      const whose = name === null ? '' : ` of ${name}`;
      return { title: `${shown(item.used)} of ${shown(item.max)} is used${whose}`, text: 'At the limit, turns stop.' };
    }
    case 'model':
      return { title: `The model preset ${item.preset} refuses: ${item.code}`, text: item.message };
    case 'message':
      return { title: `${item.message.displayName ?? item.message.sender} wrote to you`, text: item.message.excerpt };
  }
}

/** Where everything about an item is. */
export function placeOf(item: InboxItem): string {
  switch (item.kind) {
    case 'report':
      return `/p/${item.project}/report?v=${item.version}`;
    case 'failure':
      return turnPath(item.project, item.agent, item.turnNumber);
    case 'message':
      return mailPath(item.project, item.message.seq);
    case 'pause':
      if (item.project === null) return '/system';
      return item.agent === null ? `/p/${item.project}` : agentPath(item.project, item.agent);
    case 'model':
      return `/p/${item.project}`;
    case 'budget':
      return item.project === null ? '/cost' : `/p/${item.project}/cost`;
  }
}

/** Where it stands why an agent, or a project, gets no turn. */
export function whyOf(item: InboxItem): string | undefined {
  if (item.project === null || item.kind === 'report' || item.kind === 'message') return undefined;
  // A preset is of no one agent.
  const agent = item.kind === 'model' ? null : item.agent;
  return agent === null ? `/p/${item.project}/agents` : agentPath(item.project, agent);
}

export const decidedMarks: Readonly<Record<Decision['kind'], MarkKind>> = {
  approved: 'done',
  'changes-requested': 'report',
  retried: 'queued',
  reset: 'stopped',
  'budget-changed': 'budget',
  resumed: 'running',
};

/** Where what was decided is seen. */
export function placeOfDecision(item: Decision): string {
  switch (item.kind) {
    case 'approved':
    case 'changes-requested':
      return `/p/${item.project}/report${item.version === null ? '' : `?v=${item.version}`}`;
    case 'retried':
      return item.turnNumber === null
        ? agentPath(item.project, item.agent)
        : turnPath(item.project, item.agent, item.turnNumber);
    case 'reset':
      return agentPath(item.project, item.agent);
    case 'budget-changed':
      return `/p/${item.project}/cost`;
    case 'resumed':
      return item.agent === null ? `/p/${item.project}` : agentPath(item.project, item.agent);
  }
}

/** A decision in a few words. */
export function decisionIn(item: Decision): string {
  switch (item.kind) {
    case 'approved':
      return item.version === null ? 'The report was approved' : `The report was approved, version ${item.version}`;
    case 'changes-requested':
      return `${item.displayName ?? item.recipient ?? 'An agent'} was asked for changes${item.version === null ? '' : `, version ${item.version}`}`;
    case 'retried':
      return item.turnNumber === null
        ? `${item.displayName ?? item.agent} was retried`
        : `Turn ${item.turnNumber} of ${item.displayName ?? item.agent} was retried`;
    case 'reset':
      return item.redelivered === 0
        ? `The turn of ${item.displayName ?? item.agent} was given up`
        : `${item.displayName ?? item.agent} begins again, ${some(item.redelivered, 'message')} unread`;
    case 'budget-changed':
      return `The budget${item.agent === null ? '' : ` of ${item.displayName ?? item.agent}`} is now ${limitsIn(item.limits)}`;
    case 'resumed':
      return `${item.displayName ?? item.agent ?? 'The project'} was resumed`;
  }
}
