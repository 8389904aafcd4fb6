import type { Token } from '@suzumio/sdk/client';
import { Link } from 'wouter';
import { openDialog } from '../../acts/run/dialogs.js';
import { useMayInCell } from '../../acts/use-may-make.js';
import { Copyable } from '../../parts/copy.js';
import { Failure } from '../../parts/failure.js';
import { some } from '../../parts/numbers.js';
import { Moment } from '../../parts/time.js';
import { useWho } from '../../who.js';
import { LinkDialog } from './link-dialog.js';
import { RevokeDialog } from './revoke-dialog.js';
import { opensPage, reachOf } from './scopes.js';
import { Used } from './used.js';
import { useTokens } from './use-people.js';

/** How many of each kind are shown at once. */
const mostShown = 200;

/** Every token: those that are good, and behind a line those that have ended. */
export function Tokens() {
  const tokens = useTokens();
  const may = useMayInCell();
  if (tokens.error && tokens.data === undefined) {
    return <Failure error={tokens.error} again={() => void tokens.refetch()} />;
  }
  const all = tokens.data ?? [];
  const good = all.filter(({ state }) => state === 'good');
  const ended = all.filter(({ state }) => state !== 'good').reverse();
  return (
    <section aria-label="Tokens">
      <div className="people-head">
        <h2>
          Tokens <span className="quiet">{tokens.data === undefined ? '' : good.length}</span>
        </h2>
        {may('createToken') ? (
          <Link href="/tokens/new" className="button">
            New token
          </Link>
        ) : null}
      </div>
      <p className="quiet people-about">
        A token lets one person or program in. Its name is recorded with everything that is done with it.
      </p>
      <ul className="people-rows">
        {good.slice(0, mostShown).map((token) => (
          <TokenRow key={token.name} token={token} />
        ))}
      </ul>
      {good.length > mostShown ? <More number={good.length - mostShown} /> : null}
      {ended.length === 0 ? null : (
        <details className="people-ended">
          <summary>{some(ended.length, 'token')} that ended</summary>
          <ul className="people-rows">
            {ended.slice(0, mostShown).map((token) => (
              <EndedRow key={`${token.name} ${token.createdAt}`} token={token} />
            ))}
          </ul>
          {ended.length > mostShown ? <More number={ended.length - mostShown} /> : null}
        </details>
      )}
    </section>
  );
}

function More({ number }: { number: number }) {
  return (
    <p className="quiet">
      and {some(number, 'more')}: <Copyable text="suzumio tokens list" />
    </p>
  );
}

function TokenRow({ token }: { token: Token }) {
  const { name, scope, createdAt, createdBy, expiresAt, seenAt, sessions, links } = token;
  const may = useMayInCell();
  const who = useWho();
  const isOwn = who.access === 'tokens' && who.name === name;
  return (
    <li className="people-row token-row">
      <span className="people-name">
        <b>
          <bdi translate="no">{name}</bdi>
        </b>
        {isOwn ? <span className="here">you</span> : null}
      </span>
      <span className="token-opens">
        <b>{scope}</b> <span className="quiet">{reachOf(token)}</span>
      </span>
      <span className="quiet people-when">
        <Used at={seenAt} />
        {sessions > 0 ? `, ${some(sessions, 'browser')}` : ''}
        {links > 0 ? `, ${some(links, 'open link')}` : ''}
        <br />
        made by {createdBy}, <Moment at={createdAt} />
        {expiresAt === null ? '' : ', ends '}
        {expiresAt === null ? null : <Moment at={expiresAt} />}
      </span>
      <span className="people-acts">
        {may('createSignInLink') && opensPage(scope) && !isOwn ? (
          <button
            type="button"
            className="button"
            onClick={() => openDialog(<LinkDialog token={name} isOwn={false} />)}
          >
            Sign-in link… <span className="visually-hidden">as {name}</span>
          </button>
        ) : null}
        {may('revokeToken') ? (
          <button
            type="button"
            className="button"
            onClick={() => openDialog(<RevokeDialog token={token} isOwn={isOwn} />)}
          >
            Revoke… <span className="visually-hidden">{name}</span>
          </button>
        ) : null}
      </span>
    </li>
  );
}

function EndedRow({ token }: { token: Token }) {
  const { name, scope, state, createdBy, createdAt, expiresAt, revokedAt } = token;
  const at = revokedAt ?? expiresAt;
  return (
    <li className="people-row token-row">
      <span className="people-name">
        <bdi translate="no">{name}</bdi>
      </span>
      <span className="quiet">
        {scope} {reachOf(token)}
      </span>
      <span className="quiet people-when">
        {state} {at === null ? null : <Moment at={at} />}, made by {createdBy}, <Moment at={createdAt} />
      </span>
    </li>
  );
}
