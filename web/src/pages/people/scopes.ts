import type { Token } from '@suzumio/sdk/client';

export type Scope = Token['scope'];

/** What a token of each scope may do, in a sentence; from the least to the most, then those of programs. */
export const scopes: readonly { scope: Scope; may: string }[] = [
  { scope: 'read', may: 'Sees projects, mail, turns and files. Changes nothing.' },
  { scope: 'mail', may: 'Also writes mail to agents, with files, and assigns tasks.' },
  { scope: 'operate', may: 'Also keeps projects going: starts, stops, pauses, retries, and decides on reports.' },
  { scope: 'write', may: 'Also makes projects, and changes budgets, profiles and teams.' },
  { scope: 'admin', may: 'Also does what cannot be undone: deletes, redacts; and with all projects, tokens.' },
  { scope: 'worker', may: 'For a turn-worker: claims turns of all projects. Opens nothing of this page.' },
  { scope: 'handler', may: 'For a program of your own: runs turns of some agents. Opens nothing of this page.' },
];

/** The same of who is signed in. */
export function youMay(scope: string): string {
  return words[scope] ?? '';
}

const words: Readonly<Record<string, string>> = {
  read: 'You see what happens here, and change nothing.',
  mail: 'You see what happens here, and write mail.',
  operate: 'You see what happens here, write mail, and keep projects going.',
  write: 'You see what happens here, write mail, keep projects going, and make and change them.',
  admin: 'You may do everything here, also what cannot be undone.',
};

/** Whether a token of a scope opens the page at all. */
export function opensPage(scope: string): boolean {
  return scope !== 'worker' && scope !== 'handler';
}

/** What a token opens: `every project`, `newsroom`, `turns of lead and writer in newsroom`. */
export function reachOf({ scope, project, agents }: Pick<Token, 'scope' | 'project' | 'agents'>): string {
  if (scope === 'handler') return `turns of ${(agents ?? []).join(', ')} in ${project ?? ''}`;
  if (scope === 'worker') return 'turns of every project';
  return project ?? 'every project';
}
