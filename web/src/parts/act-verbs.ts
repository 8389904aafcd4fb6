import type { Act } from '@suzumio/sdk/client';

/** What each act is, as a sentence goes on after who did it. */
const verbs: Readonly<Record<string, string>> = {
  'project.initialized': 'made the project',
  'project.started': 'started the project',
  'project.changes-requested': 'asked for changes of the report',
  'project.completed': 'approved the report',
  'project.stopped': 'stopped the project',
  'project.labelled': 'changed its labels',
  'config.changed': 'changed the project file',
  'project.paused': 'paused the project',
  'project.resumed': 'resumed the project',
  'project.deleted': 'deleted the project',
  'message.redelivered': 'delivered mail again to',
  'message.redacted': 'redacted a message',
  'artifact.redacted': 'redacted an artifact',
  'turn.queued': 'retried the turn of',
  'turn.cancelled': 'cancelled a turn of',
  'workspace.restored': 'restored the files of',
  'git.pushed': 'pushed to the shared repository',
  'agent.stopped': 'stopped',
  'agent.started': 'started',
  'agent.reset': 'reset',
  'memory.noted': 'added a note for',
  'memory.edited': 'changed a note of',
  'memory.forgotten': 'erased a note of',
  'memory.redacted': 'redacted a note of',
  'profile.noted': 'added a note for',
  'profile.note-edited': 'changed a note of',
  'profile.note-forgotten': 'erased a note of',
  'profile.note-redacted': 'redacted a note of',
  'agent.paused': 'paused',
  'agent.resumed': 'resumed',
  'budget.changed': 'changed a budget of',
  'token.created': 'made the token',
  'token.revoked': 'revoked the token',
  'token.link-made': 'made a sign-in link for',
  'cell.paused': 'paused every project',
  'cell.resumed': 'resumed every project',
};

/** What somebody did, in a sentence. */
export function verbOf({ type, subject }: Pick<Act, 'type' | 'subject'>): string {
  const verb = verbs[type] ?? type;
  return subject === null ? verb.replace(/ of$/, '') : verb;
}

/** Whether a type of event is an act that has words. */
export function isAct(type: string): boolean {
  return Object.hasOwn(verbs, type);
}
