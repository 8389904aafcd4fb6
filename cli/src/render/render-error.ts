import type { ErrorCode } from '@suzumio/contract/errors/codes';
import { isSuzumioError, messageOf, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { toProblem } from '@suzumio/contract/errors/problem';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

/** An error for a person: what, where, and what to do next. */
export function renderError(error: unknown, session: Session): string[] {
  if (session.json) return [JSON.stringify(toProblem(asKnown(error, session)), null, 2)];
  if (error instanceof UsageError) {
    return error.next === undefined ? [error.message] : [error.message, `next: ${session.suzumio} ${error.next}`];
  }
  if (!isSuzumioError(error)) {
    const where = error instanceof Error ? error.stack : undefined;
    return ['Suzumio made a mistake here; nothing you did explains it.', where ?? messageOf(error)];
  }
  const { next = remedies[error.code]?.(session, error) } = error.details;
  return next === undefined ? [error.message] : [error.message, `next: ${String(next)}`];
}

/** An error of the command line counts as an invalid request. */
function asKnown(error: unknown, { suzumio }: Session): unknown {
  if (!(error instanceof UsageError)) return error;
  const { message, next } = error;
  return new SuzumioError('invalid-request', message, next === undefined ? {} : { next: `${suzumio} ${next}` });
}

/** What to do about an error, where its message alone does not say. */
const remedies: Partial<Record<ErrorCode, (session: Session, error: SuzumioError) => string>> = {
  'server-unreachable': ({ suzumio, url }, { details }) => {
    // A server that answers says so of what it needs itself.
    const there = details['answeredBy'] !== undefined;
    if (there) return `${suzumio} doctor`;
    return url === undefined ? `${suzumio} serve` : 'see that the address is right and a server runs there';
  },
  unauthenticated: ({ url }) =>
    `set ${url === undefined ? 'SUZUMIO_TOKEN' : 'SUZUMIO_URL to that server and SUZUMIO_TOKEN'} to a token of it; its own is in admin.token of its data directory`,
  'project-unknown': ({ suzumio }) => `${suzumio} status`,
  'project-exists': ({ suzumio }) => `${suzumio} status`,
  'transition-refused': inProject('status'),
  'agent-unknown': inProject('agents'),
  'agent-state-refused': inProject('status'),
  'recipient-unknown': inProject('agents'),
  'recipient-retired': inProject('agents'),
  'recipient-ambiguous': inProject('agents'),
  'message-unknown': inProject('messages'),
  'thread-unknown': inProject('messages'),
  'recipient-self': inProject('agents'),
  'team-unknown': ({ suzumio, project }) => `${suzumio} ${project === undefined ? 'teams list' : `agents ${project}`}`,
  'team-exists': ({ suzumio }) => `${suzumio} teams list`,
  'profile-unknown': ({ suzumio }) => `${suzumio} profiles list`,
  'profile-exists': ({ suzumio }) => `${suzumio} profiles list`,
  'profile-retired': ({ suzumio }) => `${suzumio} profiles list`,
  'git-not-shared': ({ suzumio, project = 'PROJECT' }) =>
    `${suzumio} config apply ${project} FILE   (with git: { shared: true } in it)`,
  'nobody-fits': inProject('status'),
  'redelivery-refused': ({ suzumio, project = 'PROJECT' }) => `${suzumio} inbox ${project} --undelivered`,
  'turn-unknown': inProject('turns'),
  'turn-state-refused': inProject('turns'),
  'artifact-unknown': inProject('artifacts'),
  'report-missing': inProject('status'),
  'policy-denied': ({ suzumio, url }, { details }) =>
    url === undefined
      ? `${suzumio} policy show   (a policy.yaml in the data directory may allow more${processesToo(details['rules'])})`
      : `ask who runs that server: its policy decides (an administrator reads it with ${suzumio} policy show)`,
  'data-dir-invalid': ({ suzumio }) => `${suzumio} doctor`,
  'data-dir-in-use': ({ suzumio }) => `${suzumio} status`,
  'store-corrupt': inProject('verify'),
};

/** Processes need no policy: a person may allow them by an option. */
function processesToo(rules: unknown): string {
  return Array.isArray(rules) && rules.includes('backends') ? ', and --allow-process allows processes' : '';
}

/** A command about the project that the failed one was about. */
function inProject(command: string): (session: Session) => string {
  return ({ suzumio, project }) => [suzumio, command, ...(project === undefined ? [] : [project])].join(' ');
}
