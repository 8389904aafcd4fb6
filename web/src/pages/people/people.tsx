import { Link, Route, Switch, useLocation, useSearchParams } from 'wouter';
import { useTitle } from '../../title.js';
import { useMayInCell } from '../../acts/use-may-make.js';
import { Missing } from '../missing.js';
import { Access } from './access.js';
import { NewToken } from './new-token.js';
import { EditProfile, NewProfile } from './profile-form.js';
import { Profile, Profiles } from './profiles.js';
import { Team, Teams } from './teams.js';

/** Who may use this server and who is signed in; the profiles that agents start from, and their teams. */
export default function People() {
  const may = useMayInCell();
  const [location] = useLocation();
  const [search] = useSearchParams();
  const tabs: [path: string, name: string][] = [
    ['/tokens', 'Access'],
    // They are for sessions of the whole cell.
    ...(may('listProfiles') ? ([['/profiles', 'Profiles']] as [string, string][]) : []),
    ...(may('listTeams') ? ([['/teams', 'Teams']] as [string, string][]) : []),
  ];
  const current = tabs.find(([path]) => location === path || location.startsWith(`${path}/`));
  const name = current?.[1] ?? 'People';
  useTitle(`${name} · People`);
  return (
    <>
      <header className="project-head">
        <div className="project-title">
          <h1>People</h1>
        </div>
        <nav className="tabs" aria-label="People">
          {tabs.map(([path, title]) => (
            <Link key={path} href={path} className="tab" aria-current={current?.[0] === path ? 'page' : undefined}>
              {title}
            </Link>
          ))}
        </nav>
      </header>
      {current === undefined ? (
        <Missing />
      ) : (
        <Switch>
          <Route path="/tokens" component={Access} />
          {may('createToken') ? <Route path="/tokens/new" component={NewToken} /> : null}
          {/* Below `/profiles/` every word may be a nickname. */}
          <Route path="/profiles" component={search.has('new') && may('createProfile') ? NewProfile : Profiles} />
          <Route path="/profiles/:nickname">{({ nickname }) => <Profile key={nickname} nickname={nickname} />}</Route>
          {may('updateProfile') ? (
            <Route path="/profiles/:nickname/edit">
              {({ nickname }) => <EditProfile key={nickname} nickname={nickname} />}
            </Route>
          ) : null}
          <Route path="/teams" component={Teams} />
          <Route path="/teams/:team">{({ team }) => <Team key={team} name={team} />}</Route>
          <Route component={Missing} />
        </Switch>
      )}
    </>
  );
}
