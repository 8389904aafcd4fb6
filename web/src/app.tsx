import { lazy, Suspense } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Route, Switch, useLocation } from 'wouter';
import { api, isUnauthenticated, keys, wordsOf } from './api.js';
import { useKeysEverywhere } from './acts/everywhere.js';
import { Dialogs } from './acts/run/dialogs.js';
import { LaterBar } from './acts/later.js';
import { useLive } from './live/use-live.js';
import { Boundary } from './parts/boundary.js';
import { Failure } from './parts/failure.js';
import { Lost } from './parts/lost.js';
import { Slow } from './parts/slow.js';
import { openPalette } from './shell/open-palette.js';
import { Rail } from './shell/rail.js';
import { AllCosts } from './pages/cost/all-costs.js';
import { Inbox } from './pages/inbox/inbox.js';
import { Missing } from './pages/missing.js';
import { Project } from './pages/project/project.js';
import { Projects } from './pages/projects.js';
import { Search } from './pages/search.js';
import { SignIn, SignInOver, SignInPage } from './pages/sign-in.js';
import { System } from './pages/system/system.js';
import { useNewItems } from './shell/use-new-items.js';
import { useWaitingInTitle } from './title.js';
import { useInboxCounts } from './use-inbox.js';
import { WhoContext } from './who.js';

const Make = lazy(() => import('./pages/make/make.js'));
const People = lazy(() => import('./pages/people/people.js'));

/** Signs in first; then the rail, and the page of the address. */
export function App() {
  return (
    <Switch>
      <Route path="/sign-in" component={SignInPage} />
      <Route component={SignedIn} />
    </Switch>
  );
}

function SignedIn() {
  const session = useQuery({
    queryKey: keys.session,
    queryFn: () => api.getSession(),
    // Another tab may have signed in.
    refetchOnWindowFocus: ({ state }) => (state.error === null ? false : 'always'),
  });
  const isOut = isUnauthenticated(session.error);
  if (session.data === undefined) {
    if (isOut) return <SignIn />;
    return session.error ? <Failure error={session.error} again={() => void session.refetch()} /> : <Slow />;
  }
  return (
    <WhoContext value={session.data}>
      <div inert={isOut}>
        <Shell />
      </div>
      <Dialogs />
      {isOut ? <SignInOver name={session.data.name} why={wordsOf(session.error)} /> : null}
    </WhoContext>
  );
}

function Shell() {
  const { live, leads } = useLive();
  useNewItems(leads);
  const counts = useInboxCounts().data;
  useWaitingInTitle((counts?.waiting ?? 0) + (counts?.unread ?? 0));
  useKeysEverywhere(openPalette);
  const [place] = useLocation();
  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <Rail live={live} />
      <main id="content" className="content" tabIndex={-1}>
        {live.state === 'lost' ? <Lost since={live.since} /> : <Slow />}
        <Boundary place={place}>
          <Switch>
            <Route path="/" component={Inbox} />
            <Route path="/inbox/:item?" component={Inbox} />
            <Route path="/projects" component={Projects} />
            <Route path="/new">
              <Suspense>
                <Make />
              </Suspense>
            </Route>
            <Route path="/p/:project/*?" component={Project} />
            <Route path={/^\/(tokens|profiles|teams)(\/|$)/}>
              <Suspense>
                <People />
              </Suspense>
            </Route>
            <Route path="/search" component={Search} />
            <Route path="/cost" component={AllCosts} />
            <Route path="/system" component={System} />
            <Route component={Missing} />
          </Switch>
        </Boundary>
      </main>
      <LaterBar />
    </div>
  );
}
