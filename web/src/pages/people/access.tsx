import type { Session } from '@suzumio/sdk/client';
import { publicPath } from '../../api.js';
import { ActButton, Bar } from '../../acts/run/bar.js';
import { openDialog } from '../../acts/run/dialogs.js';
import { asked, useRun } from '../../acts/run/use-run.js';
import { useMay } from '../../acts/use-act.js';
import { useMayInCell } from '../../acts/use-may-make.js';
import { Copyable } from '../../parts/copy.js';
import { Failure } from '../../parts/failure.js';
import { some } from '../../parts/numbers.js';
import { Moment } from '../../parts/time.js';
import { visible } from '../../parts/visible.js';
import { useWho } from '../../who.js';
import { browserName } from './browser-name.js';
import { LinkDialog } from './link-dialog.js';
import { youMay } from './scopes.js';
import { Used } from './used.js';
import { Tokens } from './tokens.js';
import { accessKeys, useSessions } from './use-people.js';

/** Who you are here, which browsers are signed in, and the tokens that let people and programs in. */
export function Access() {
  const may = useMayInCell();
  return (
    <div className="page people">
      <You />
      <SignedIn />
      {may('listTokens') ? <Tokens /> : null}
    </div>
  );
}

function You() {
  const { name, scope, project, access, session } = useWho();
  const may = useMay();
  const run = useRun([]);
  if (access === 'open') {
    return (
      <section aria-label="You">
        <h2>You</h2>
        <p>
          This server asks nobody for a token (SUZUMIO_AUTH=off): whoever reaches it may do everything, as <b>{name}</b>
          .
        </p>
      </section>
    );
  }
  return (
    <section className="you" aria-label="You">
      <h2 className="visually-hidden">You</h2>
      <p className="you-name">
        <b>{name}</b> <span className="you-scope">{scope}</span>
        <span className="quiet">{project === null ? 'every project' : <bdi translate="no">{project}</bdi>}</span>
      </p>
      <p className="you-may">{youMay(scope)}</p>
      {session === null ? null : (
        <p className="quiet">
          Signed in here since <Moment at={session.createdAt} />, until <Moment at={session.expiresAt} /> at the latest.
        </p>
      )}
      <Bar label="Your sign-in" run={run}>
        {may('createSignInLink') ? (
          <ActButton
            does="Link for another browser…"
            run={run}
            onAct={() => openDialog(<LinkDialog token={name} isOwn />)}
          />
        ) : null}
        {session === null ? null : (
          <ActButton
            does="Sign out"
            will="Of this browser. Others of yours stay."
            run={run}
            onAct={() => run.ask(asked('signOut', {}), '', undefined, leave)}
          />
        )}
      </Bar>
    </section>
  );
}

/** Nothing that somebody has read stays behind: the page is loaded anew. */
export function leave(): void {
  location.assign(`${publicPath}/sign-in`);
}

function SignedIn() {
  const sessions = useSessions();
  const who = useWho();
  const run = useRun(accessKeys);
  if (sessions.error && sessions.data === undefined) {
    return <Failure error={sessions.error} again={() => void sessions.refetch()} />;
  }
  const items = sessions.data ?? [];
  // While they are read, and where the server asks nobody to sign in.
  if (items.length === 0) return null;
  const own = items.filter(({ token }) => token === who.name);
  const others = own.filter(({ current }) => !current).length;
  return (
    <section aria-label="Signed in">
      <div className="people-head">
        <h2>
          Signed in <span className="quiet">{some(items.length, 'browser')}</span>
        </h2>
      </div>
      <p className="quiet people-about" id="ends">
        A browser that is signed out sees nothing more from that moment on. What was written in it stays there, to be
        sent after the next sign-in.
      </p>
      <ul className="people-rows">
        {items.slice(0, mostShown).map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </ul>
      {items.length > mostShown ? (
        <p className="quiet">
          and {some(items.length - mostShown, 'more')}: <Copyable text="suzumio sessions list" />
        </p>
      ) : null}
      {own.length > 0 ? (
        <Bar label="Sign out everywhere" run={run} className="people-foot">
          {others === 0 ? null : (
            <ActButton
              does="Sign out the others"
              will={`${some(others, 'other browser')} of ${who.name}, and the links that would sign one in.`}
              run={run}
              onAct={() =>
                run.ask(
                  asked('endSessions', { query: { token: who.name, others: 'true' } }),
                  'Only this browser is signed in now.',
                )
              }
            />
          )}
          <ActButton
            does="Sign out everywhere"
            will={`All browsers of ${who.name}, this one too. The token itself stays good.`}
            run={run}
            onAct={() => run.ask(asked('endSessions', { query: { token: who.name } }), '', undefined, leave)}
          />
        </Bar>
      ) : null}
    </section>
  );
}

const mostShown = 100;

function SessionRow({ session: { id, token, createdAt, seenAt, address, agent, current } }: { session: Session }) {
  const run = useRun(accessKeys);
  const browser = visible(browserName(agent));
  return (
    <li className="people-row session-row">
      <span className="people-name">
        <b>
          <bdi>{token}</bdi>
        </b>
        {current ? <span className="here">this browser</span> : null}
      </span>
      <span className="clip" title={visible(agent)}>
        <bdi>{browser}</bdi> <span className="quiet">from {address}</span>
      </span>
      <span className="quiet people-when">
        <Used at={seenAt} />, signed in <Moment at={createdAt} />
      </span>
      <span className="people-acts">
        {current ? null : (
          <Bar label={`${token}, ${browser}`} run={run}>
            <button
              type="button"
              className="button"
              aria-describedby="ends"
              aria-disabled={run.isPending || undefined}
              onClick={() => run.ask(asked('endSession', { session: id }), '')}
            >
              Sign out
              <span className="visually-hidden">
                {token}, {browser}
              </span>
            </button>
          </Bar>
        )}
      </span>
    </li>
  );
}
