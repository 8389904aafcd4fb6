import { type Agent, type ProjectDetail, SuzumioError, type TurnDetail } from '@suzumio/sdk/client';
import { type ReactNode } from 'react';
import { Link, useLocation, useParams, useSearchParams } from 'wouter';
import { Key, useKeys } from '../../../acts/keys.js';
import { TurnActs } from '../../../acts/run/turn-acts.js';
import { Copyable } from '../../../parts/copy.js';
import { Failure } from '../../../parts/failure.js';
import { Mark } from '../../../parts/mark.js';
import { visible } from '../../../parts/visible.js';
import { bytes, cachedPart, count, dollars, some, span } from '../../../parts/numbers.js';
import { nameOf, stateOfTurn } from '../../../parts/states.js';
import { Moment, useNow } from '../../../parts/time.js';
import { useNarrow } from '../../../parts/use-narrow.js';
import { agentPath, called } from '../../../parts/places.js';
import { Changes } from './changes.js';
import { Attempts, Log, Prompt, TurnMail, Usage } from './panes.js';
import { Steps } from './steps/steps.js';
import { useTurn, useTurnMail } from './use-turn.js';
import { useTitle } from '../../../title.js';

/** One turn: what it was asked, what it did, step by step, and how it ended. */
export default function Turn({ detail }: { detail: ProjectDetail }) {
  const { turn: name } = useParams<{ turn: string }>();
  const { project, agents } = detail;
  const turn = useTurn(project.id, name);
  if (turn.data === undefined) {
    if (!turn.error) return null;
    if (turn.error instanceof SuzumioError && turn.error.code === 'turn-unknown') {
      return <NoTurn project={project.id} name={name} agents={agents} />;
    }
    return <Failure error={turn.error} again={() => void turn.refetch()} />;
  }
  return <Found key={turn.data.id} project={project.id} turn={turn.data} agents={agents} />;
}

function NoTurn({ project, name, agents }: { project: string; name: string; agents: readonly Agent[] }) {
  const agent = agents.find(({ id }) => name.startsWith(`${id}:`));
  return (
    <div className="empty">
      <h1>
        There is no turn <bdi>{visible(name.slice(0, 80))}</bdi>
      </h1>
      <p>
        {agent
          ? `${nameOf(agent)} has had ${some(agent.turns, 'turn')}.`
          : 'The address names no agent of this project: it is written agent:number.'}
      </p>
      <Link href={`/p/${project}/turns${agent ? `?agent=${agent.id}` : ''}`} className="button">
        All turns
      </Link>
    </div>
  );
}

interface Props {
  project: string;
  turn: TurnDetail;
  agents: readonly Agent[];
}

const tabs = ['steps', 'changes', 'prompt', 'mail', 'attempts', 'usage', 'log'] as const;
type Tab = (typeof tabs)[number];

function Found({ project, turn, agents }: Props) {
  const [search] = useSearchParams();
  const isNarrow = useNarrow();
  const asked = tabs.find((tab) => tab === search.get('tab'));
  const step = search.get('step');
  const named = step !== null && /^\d{1,9}$/.test(step) ? Number(step) : undefined;
  // What a failed turn is looked at for is why it failed.
  const usual = turn.status === 'failed' ? 'attempts' : 'changes';
  const tab = isNarrow ? (asked ?? 'steps') : asked === undefined || asked === 'steps' ? usual : asked;
  useTitle(`Turn ${turn.number} of ${turn.agent}`);
  const steps = (
    <section className="turn-steps" aria-label="Steps" tabIndex={isNarrow ? undefined : 0}>
      <Steps project={project} turn={turn} agents={agents} named={named} />
    </section>
  );
  return (
    <div className="turn">
      <Head project={project} turn={turn} agents={agents} />
      <div className="turn-panes">
        {isNarrow ? null : steps}
        <div className="turn-side">
          <Tabs project={project} turn={turn} tab={tab} isNarrow={isNarrow} />
          <div className="turn-pane" tabIndex={isNarrow ? undefined : 0} role="group" aria-label={names[tab]}>
            {tab === 'steps' ? steps : null}
            {tab === 'changes' ? <Changes project={project} turn={turn} /> : null}
            {tab === 'prompt' ? <Prompt turn={turn} /> : null}
            {tab === 'mail' ? <TurnMail project={project} turn={turn} agents={agents} /> : null}
            {tab === 'attempts' ? <Attempts turn={turn} /> : null}
            {tab === 'usage' ? <Usage turn={turn} /> : null}
            {tab === 'log' ? <Log project={project} turn={turn} /> : null}
          </div>
        </div>
      </div>
    </div>
  );
}

function Head({ project, turn, agents }: Props) {
  const agent = agents.find(({ id }) => id === turn.agent);
  const mail = useTurnMail(project, turn);
  const woke = mail.data?.find(({ id }) => turn.reads.includes(id));
  const { mark, word } = stateOfTurn(turn);
  const asked = turn.modelCalls;
  const sum = (field: 'inputTokens' | 'outputTokens' | 'cachedTokens' | 'costUsd') =>
    asked.reduce((total, call) => total + call[field], 0);
  const worker = turn.attempts.at(-1)?.worker;
  return (
    <header className="turn-head">
      <p className="crumbs">
        <Link href={`/p/${project}`}>
          <bdi translate="no">{project}</bdi>
        </Link>
        {' / '}
        <Link href={`/p/${project}/turns?agent=${turn.agent}`}>
          <bdi>{visible(agent ? nameOf(agent) : turn.agent)}</bdi>
          {agent && agent.role !== nameOf(agent) ? (
            <>
              , <bdi>{visible(agent.role)}</bdi>
            </>
          ) : null}
        </Link>
      </p>
      <div className="turn-title">
        <h1>Turn {turn.number}</h1>
        <span className={`state state-${mark}`}>
          <Mark kind={mark} /> {word}
          <Took turn={turn} />
        </span>
        <Neighbours project={project} turn={turn} agent={agent} />
      </div>
      <ul className="facts">
        {turn.attempt > 0 ? (
          <li>
            attempt <b>{turn.attempt}</b>
          </li>
        ) : null}
        {worker === undefined ? null : (
          <li>
            worker{' '}
            <b>
              <bdi>{visible(worker)}</bdi>
            </b>
          </li>
        )}
        {asked.length > 0 ? (
          <li>
            <b>{count(asked.length)}</b> model {asked.length === 1 ? 'call' : 'calls'},{' '}
            {count(sum('inputTokens') + sum('outputTokens'))} tokens
            {cachedPart({ cachedTokens: sum('cachedTokens') })}, <b>{dollars(sum('costUsd'))}</b>
          </li>
        ) : (
          <li>
            <b>{count(turn.toolCalls)}</b> tool {turn.toolCalls === 1 ? 'call' : 'calls'}
          </li>
        )}
        {woke === undefined ? null : (
          <li>
            woken by{' '}
            <b>
              <bdi>{visible(called(woke.sender, agents))}</bdi>
            </b>
            , <Moment at={woke.createdAt} />
          </li>
        )}
        <li className="turn-command">
          <Copyable text={`suzumio turns show ${project} ${turn.agent}:${turn.number}`} />
        </li>
      </ul>
      <TurnActs project={project} turn={turn} agent={agent} />
    </header>
  );
}

/** How long it has run, all attempts and waits together. */
function Took({ turn: { startedAt, endedAt, status } }: { turn: TurnDetail }) {
  const now = useNow(status === 'running' ? 1_000 : 60_000);
  if (startedAt === null || status === 'queued') return null;
  const until = endedAt === null ? now : Date.parse(endedAt);
  return <>, {span(Math.max(0, until - Date.parse(startedAt)))}</>;
}

/** The agent's turns before and after this one; also by the keys [ and ]. */
function Neighbours({ project, turn, agent }: { project: string; turn: TurnDetail; agent: Agent | undefined }) {
  const [, navigate] = useLocation();
  const at = (number: number) => `/p/${project}/turns/${turn.agent}:${number}`;
  const earlier = turn.number > 1 ? at(turn.number - 1) : undefined;
  const later = turn.number < (agent?.turns ?? 0) ? at(turn.number + 1) : undefined;
  const go = (to: string | undefined) => (to === undefined ? undefined : () => navigate(to));
  useKeys({ earlier: go(earlier), later: go(later), why: () => navigate(agentPath(project, turn.agent)) });
  return (
    <nav className="turn-neighbours" aria-label="Other turns">
      {earlier === undefined ? null : (
        <Link href={earlier} className="button">
          Earlier turn <Key name="earlier" />
        </Link>
      )}
      {later === undefined ? null : (
        <Link href={later} className="button">
          Later turn <Key name="later" />
        </Link>
      )}
    </nav>
  );
}

const names: Readonly<Record<Tab, string>> = {
  steps: 'Steps',
  changes: 'Changes',
  prompt: 'Prompt',
  mail: 'Mail',
  attempts: 'Attempts',
  usage: 'Usage',
  log: 'Log',
};

function Tabs({ project, turn, tab, isNarrow }: { project: string; turn: TurnDetail; tab: Tab; isNarrow: boolean }) {
  const mail = useTurnMail(project, turn);
  const sent = mail.data?.filter((message) => message.turn === turn.id).length;
  const files = turn.files === null ? 0 : turn.files.added + turn.files.changed + turn.files.removed;
  const notes: Partial<Record<Tab, ReactNode>> = {
    changes: files > 0 ? some(files, 'file') : null,
    prompt: turn.prompt === null ? null : bytes(new Blob([turn.prompt]).size),
    mail: sent === undefined ? null : `${turn.reads.length} in, ${sent} out`,
    attempts: turn.attempts.length,
  };
  return (
    <nav className="tabs turn-tabs" aria-label="Of the turn">
      {tabs
        .filter((one) => isNarrow || one !== 'steps')
        .map((one) => (
          <Link
            key={one}
            href={`/p/${project}/turns/${turn.agent}:${turn.number}?tab=${one}`}
            className="tab"
            replace
            aria-current={one === tab ? 'page' : undefined}
          >
            {names[one]} {notes[one] == null ? null : <span className="tab-count">{notes[one]}</span>}
          </Link>
        ))}
    </nav>
  );
}
