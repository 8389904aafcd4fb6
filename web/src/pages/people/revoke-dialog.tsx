import type { Token } from '@suzumio/sdk/client';
import { useId } from 'react';
import { ActDialog } from '../../acts/run/act-dialog.js';
import { asked, useRun } from '../../acts/run/use-run.js';
import { some } from '../../parts/numbers.js';
import { reachOf } from './scopes.js';
import { accessKeys } from './use-people.js';

/** Takes a token back, once it was said what ends with it and what goes on. */
export function RevokeDialog({ token, isOwn }: { token: Token; isOwn: boolean }) {
  const id = useId();
  const run = useRun(accessKeys);
  const { name } = token;
  return (
    <ActDialog
      title={
        <>
          Revoke <bdi translate="no">{name}</bdi>?
        </>
      }
      run={run}
      ask={() => run.ask(asked('revokeToken', { token: name }), '')}
      done={() => (
        <p role="status">
          <bdi translate="no">{name}</bdi> is revoked: it opens nothing any more. Its name is free for another token.
        </p>
      )}
      stay="Keep it"
      does="Revoke for good"
      doing="Revoking…"
      will={id}
    >
      <ul className="follows" id={id}>
        {followsOf(token, isOwn).map((what) => (
          <li key={what}>{what}</li>
        ))}
      </ul>
    </ActDialog>
  );
}

/** What follows of its end. */
function followsOf(token: Token, isOwn: boolean): string[] {
  const { name, scope, sessions, links } = token;
  return [
    `Whoever shows it is refused from now on, for ever; event streams that it opened end. What was done with it stays.`,
    ...(isOwn ? ['You are signed in with it: this page asks you to sign in anew.'] : []),
    ...(sessions > 0
      ? [
          `${some(sessions, 'browser')} signed in as ${name} ${sessions === 1 ? 'is' : 'are'} signed out. What was written there stays there.`,
        ]
      : []),
    ...(links > 0
      ? [`${some(links, 'sign-in link')} that nobody opened yet ${links === 1 ? 'opens' : 'open'} nothing any more.`]
      : []),
    ...(scope === 'worker' || scope === 'handler'
      ? [`It claims no more ${reachOf(token)}. Turns that it has claimed already go on to their end.`]
      : []),
    ...(name === 'admin' ? ['The commands on the machine of the server use it. They need another one then.'] : []),
    ...(name === 'worker' ? ['The workers of the server itself use it: without another one no turn runs.'] : []),
  ];
}
