import { SuzumioError, type ProjectDetail } from '@suzumio/sdk/client';
import { lazy, type ReactNode, Suspense } from 'react';
import { Link, Route, Switch, useLocation, useParams } from 'wouter';
import { Key, useKeys } from '../../acts/keys.js';
import { ProjectActs } from '../../acts/run/late.js';
import { Failure } from '../../parts/failure.js';
import { Mark } from '../../parts/mark.js';
import { visible } from '../../parts/visible.js';
import { count, dollars, some } from '../../parts/numbers.js';
import { nameOf, stateOfProject } from '../../parts/states.js';
import { Ago } from '../../parts/time.js';
import { itemPath } from '../../parts/places.js';
import { Missing } from '../missing.js';
import { useWaiting } from '../../use-inbox.js';
import { AgentPage } from './agents/agent.js';
import { Agents } from './agents/agents.js';
import { Cost } from './cost.js';
import { Files } from './files/files.js';
import { Log } from './log.js';
import { Mailbox } from './mail/mailbox.js';
import { Now } from './now.js';
import { Report } from './report.js';
import { Repository } from './repository.js';
import { Setup } from './setup/setup.js';
import { Tasks } from './tasks.js';
import { Turns } from './turns/turns.js';
import { useBudget, useProject } from '../../use-project.js';
import { useTitle } from '../../title.js';

const Turn = lazy(() => import('./turns/turn.js'));
const Workspace = lazy(() => import('./workspace/workspace.js'));

/** One project: what it is, and its pages. */
export function Project() {
  const { project: id } = useParams<{ project: string }>();
  const project = useProject(id);
  if (project.data === undefined) {
    if (!project.error) return null;
    if (isUnknown(project.error)) return <Gone id={id} />;
    return <Failure error={project.error} again={() => void project.refetch()} />;
  }
  const old = project.error ? <Deleted error={project.error} /> : null;
  return (
    <Switch>
      <Route path="/p/:project/turns/:turn">
        {old}
        <Suspense>
          <Turn detail={project.data} />
        </Suspense>
      </Route>
      <Route>
        <div className="project" key={id}>
          <Head detail={project.data} isGone={isUnknown(project.error)} />
          {old}
          <Asks project={id} detail={project.data} />
          <Switch>
            <Route path="/p/:project">
              <Now detail={project.data} />
            </Route>
            <Route path="/p/:project/turns">
              <Turns detail={project.data} />
            </Route>
            <Route path="/p/:project/mail/:message?">
              {({ message }) => <Mailbox detail={project.data} message={message} />}
            </Route>
            <Route path="/p/:project/tasks">
              <Tasks detail={project.data} />
            </Route>
            <Route path="/p/:project/agents">
              <Agents detail={project.data} />
            </Route>
            <Route path="/p/:project/agents/:agent">
              {({ agent }) => <AgentPage key={agent} detail={project.data} agent={agent} />}
            </Route>
            <Route path="/p/:project/files/:id?">
              <Files detail={project.data} />
            </Route>
            <Route path="/p/:project/report">
              <Report detail={project.data} />
            </Route>
            <Route path="/p/:project/workspace/:agent?">
              {({ agent }) => (
                <Suspense>
                  <Workspace key={agent} detail={project.data} agent={agent} />
                </Suspense>
              )}
            </Route>
            <Route path="/p/:project/repository">
              <Repository detail={project.data} />
            </Route>
            <Route path="/p/:project/cost">
              <Cost detail={project.data} />
            </Route>
            <Route path="/p/:project/log">
              <Log detail={project.data} />
            </Route>
            <Route path="/p/:project/setup">
              <Setup detail={project.data} />
            </Route>
            <Route component={Missing} />
          </Switch>
        </div>
      </Route>
    </Switch>
  );
}

function isUnknown(error: unknown): boolean {
  return error instanceof SuzumioError && error.code === 'project-unknown';
}

function Gone({ id }: { id: string }) {
  return (
    <div className="empty">
      <h1>
        There is no project <bdi translate="no">{id}</bdi>
      </h1>
      <p>It was deleted, or is not in the backup that was restored, or the address is misspelt.</p>
      <Link href="/projects" className="button">
        All projects
      </Link>
    </div>
  );
}

/** What is shown is the last that was read. */
function Deleted({ error }: { error: unknown }) {
  const words = isUnknown(error)
    ? 'This project was deleted. What you see is how it was.'
    : `What you see may be old: ${error instanceof Error ? error.message : ''}`;
  return (
    <p className="lost" role="status">
      {words}
    </p>
  );
}

function Head({ detail, isGone }: { detail: ProjectDetail; isGone: boolean }) {
  const { project, agents } = detail;
  const { mark, word } = stateOfProject(
    project,
    agents.some(({ state }) => state === 'failed'),
  );
  const atWork = agents.filter(({ activeTurn }) => activeTurn?.status === 'running').length;
  const next = agents.filter(({ activeTurn }) => activeTurn?.status === 'queued').length;
  const why = `/p/${project.id}/agents`;
  const [location, navigate] = useLocation();
  useKeys({ why: location === why ? undefined : () => navigate(why) });
  const budget = useBudget(project.id).data?.find(({ agent }) => agent === null)?.usd;
  return (
    <header className={location === `/p/${project.id}` ? 'project-head' : 'project-head project-elsewhere'}>
      <div className="project-top">
        <div className="project-what">
          <div className="project-title">
            <h1>
              <bdi translate="no">{project.id}</bdi>
            </h1>
            <span className={`state state-${mark}`}>
              <Mark kind={mark} /> {word}
            </span>
          </div>
          <ul className="facts">
            <Fact>
              <b>{atWork}</b> at work
              {next > 0 ? (
                <>
                  , <b>{next}</b> next
                </>
              ) : null}
            </Fact>
            <Fact>
              <b>{count(project.turns.total)}</b> {project.turns.total === 1 ? 'turn' : 'turns'}
              {project.turns.failed > 0 ? <span className="state-failed">, {project.turns.failed} failed</span> : null}
            </Fact>
            <Fact>
              <b>{count(project.tokens)}</b> tokens
            </Fact>
            <Fact>
              <b>{dollars(project.costUsd)}</b>
              {budget?.limit == null ? null : ` of ${dollars(budget.limit)}`}
            </Fact>
            <Fact>
              {project.startedAt === null ? (
                'not started'
              ) : (
                <>
                  started <Ago at={project.startedAt} inWords />
                </>
              )}
            </Fact>
            {Object.entries(project.labels)
              .slice(0, mostLabels)
              .map(([key, value]) => (
                <li key={key} className="label clip">
                  <bdi>{visible(key)}</bdi>=<bdi>{visible(value)}</bdi>
                </li>
              ))}
          </ul>
        </div>
        <div className="head-acts">
          <Link href={why} className="button head-why">
            <span>
              Why<span className="head-why-long"> is it quiet</span>?
            </span>
            <Key name="why" />
          </Link>
          {isGone ? null : <ProjectActs detail={detail} />}
        </div>
      </div>
      <Tabs
        project={project.id}
        messages={project.messages}
        turns={project.turns.total}
        files={project.artifacts}
        agents={agents.length}
      />
    </header>
  );
}

/** So many labels are shown; the others are where they are set. */
const mostLabels = 4;

function Fact({ children }: { children: ReactNode }) {
  return <li>{children}</li>;
}

function Tabs({
  project,
  messages,
  turns,
  files,
  agents,
}: {
  project: string;
  messages: number;
  turns: number;
  files: number;
  agents: number;
}) {
  const [location] = useLocation();
  const tabs: [path: string, name: string, number?: number][] = [
    ['', 'Now'],
    ['/mail', 'Mail', messages],
    ['/turns', 'Turns', turns],
    ['/tasks', 'Tasks'],
    ['/agents', 'Agents', agents],
    ['/files', 'Files', files],
    ['/report', 'Report'],
    ['/workspace', 'Workspace'],
    ['/cost', 'Cost'],
    ['/log', 'Log'],
    ['/setup', 'Setup'],
  ];
  const current = tabs.find(([path]) => isHere(location, path, `/p/${project}${path}`))?.[1];
  useTitle(current === undefined ? undefined : `${current} · ${project}`);
  return (
    <nav className="tabs" aria-label={project}>
      {tabs.map(([path, name, number]) => {
        const href = `/p/${project}${path}`;
        const isCurrent = isHere(location, path, href);
        return (
          <Link
            key={path}
            href={href}
            className="tab"
            aria-current={isCurrent ? 'page' : undefined}
            ref={isCurrent ? showTab : null}
          >
            {name} {number === undefined ? null : <span className="tab-count">{count(number)}</span>}
          </Link>
        );
      })}
    </nav>
  );
}

/** Where tabs are wider than the screen, the current one is brought into view. */
function showTab(tab: HTMLAnchorElement | null): void {
  const bar = tab?.parentElement;
  if (tab && bar) bar.scrollLeft = tab.offsetLeft + tab.offsetWidth - bar.clientWidth;
}

/** Whether a tab's page, or one below it, is shown. */
function isHere(location: string, path: string, href: string): boolean {
  return location === href || (path !== '' && location.startsWith(`${href}/`));
}

/** What of the project waits for a person. */
function Asks({ project, detail }: { project: string; detail: ProjectDetail }) {
  const items = useWaiting(project).data?.items ?? [];
  const [location, navigate] = useLocation();
  const [item] = items;
  const isShown = item !== undefined && !(item.kind === 'report' && location === `/p/${project}/report`);
  useKeys({ look: isShown ? () => navigate(itemPath(item.id)) : undefined });
  // Beside the report itself stands what decides on it.
  if (!isShown) return null;
  const named = (agent: string) => {
    const found = detail.agents.find(({ id }) => id === agent);
    return found ? nameOf(found) : agent;
  };
  const words =
    item.kind === 'report'
      ? `Version ${item.version} of the report is submitted.`
      : item.kind === 'failure'
        ? `${named(item.agent)} failed in turn ${item.turnNumber}: ${item.message}`
        : item.kind === 'pause'
          ? `${item.agent === null ? 'The project' : named(item.agent)} is paused.`
          : item.kind === 'budget'
            ? 'A budget is nearly used up.'
            : item.kind === 'model'
              ? `The model preset ${item.preset} refuses: ${item.message}`
              : '';
  return (
    <section className="asks" aria-label="Waits for you">
      <Mark
        kind={
          item.kind === 'report'
            ? 'report'
            : item.kind === 'failure' || item.kind === 'model'
              ? 'failed'
              : item.kind === 'budget'
                ? 'budget'
                : 'paused'
        }
      />
      <p className="asks-words">
        <bdi>{words}</bdi>{' '}
        {items.length > 1 ? <span className="quiet">and {some(items.length - 1, 'more item')}</span> : null}
      </p>
      <Link href={itemPath(item.id)} className="button button-filled">
        Look and decide <Key name="look" />
      </Link>
    </section>
  );
}
