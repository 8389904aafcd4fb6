import type { AuditEntry, TokenView } from '@suzumio/contract/model/access-token';
import type { SessionView } from '@suzumio/contract/model/session';
import type { Session } from '../session.js';
import { count, dayAndTime } from './format.js';
import { table } from './table.js';

export function tokenTable(tokens: readonly TokenView[], { context }: Session): string[] {
  return table(
    ['NAME', 'SCOPE', 'PROJECT', 'STATE', 'CREATED', 'BY', 'LAST USED', 'SIGNED IN', 'EXPIRES'],
    tokens.map((token) => [
      token.name,
      token.scope,
      whose(token),
      token.state,
      dayAndTime(token.createdAt, context),
      token.createdBy,
      token.seenAt === null ? 'never' : dayAndTime(token.seenAt, context),
      token.sessions === 0 ? '-' : count(token.sessions, 'browser'),
      token.expiresAt === null ? 'never' : dayAndTime(token.expiresAt, context),
    ]),
    context.out,
  );
}

function whose({ project, agents }: TokenView): string {
  if (agents !== null) return `${project ?? ''} (${agents.join(', ')})`;
  return project ?? 'all';
}

export function sessionTable(sessions: readonly SessionView[], { context }: Session): string[] {
  return table(
    ['SESSION', 'TOKEN', 'SIGNED IN', 'LAST USED', 'ENDS', 'FROM', 'BROWSER'],
    sessions.map((session) => [
      session.id,
      session.token,
      dayAndTime(session.createdAt, context),
      dayAndTime(session.seenAt, context),
      dayAndTime(session.expiresAt, context),
      session.address,
      session.agent,
    ]),
    context.out,
  );
}

export function auditTable(entries: readonly AuditEntry[], { context }: Session): string[] {
  return table(
    ['TIME', 'TOKEN', 'CODE', 'PROJECT', 'METHOD', 'ROUTE'],
    entries.map((entry) => [
      dayAndTime(entry.at, context),
      entry.token,
      entry.code,
      entry.project ?? '-',
      entry.method,
      entry.route,
    ]),
    context.out,
  );
}
