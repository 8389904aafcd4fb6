import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { api, isUnauthenticated, keys } from './api.js';
import { useLive } from './live/use-live.js';
import { Failure } from './parts/failure.js';
import { Lost } from './parts/lost.js';
import { Rail } from './shell/rail.js';
import { Inbox } from './pages/inbox.js';
import { Missing } from './pages/missing.js';
import { Project } from './pages/project/project.js';
import { Projects } from './pages/projects.js';
import { Search } from './pages/search.js';
import { SignIn, SignInPage } from './pages/sign-in.js';
import { System } from './pages/system/system.js';
import { WhoContext } from './who.js';

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
  const session = useQuery({ queryKey: keys.session, queryFn: () => api.getSession() });
  if (isUnauthenticated(session.error)) return <SignIn />;
  if (session.data === undefined) {
    return session.error ? <Failure error={session.error} again={() => void session.refetch()} /> : null;
  }
  return (
    <WhoContext value={session.data}>
      <Shell />
    </WhoContext>
  );
}

function Shell() {
  const live = useLive();
  useSearchKey();
  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <Rail live={live} />
      <main id="content" className="content" tabIndex={-1}>
        {live.state === 'lost' ? <Lost since={live.since} /> : null}
        <Switch>
          <Route path="/" component={Inbox} />
          <Route path="/inbox/:item?" component={Inbox} />
          <Route path="/projects" component={Projects} />
          <Route path="/p/:project/*?" component={Project} />
          <Route path="/search" component={Search} />
          <Route path="/system" component={System} />
          <Route component={Missing} />
        </Switch>
      </main>
    </div>
  );
}

/** Ctrl K, or ⌘ K, opens the search. */
function useSearchKey(): void {
  const [, navigate] = useLocation();
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== 'k')
        return;
      event.preventDefault();
      navigate('/search');
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [navigate]);
}
