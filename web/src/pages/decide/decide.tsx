import type { Agent, Project } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { type RefObject, useEffect, useId, useRef, useState } from 'react';
import { Link } from 'wouter';
import { api, keys } from '../../api.js';
import { Copyable } from '../../parts/copy.js';
import { Mark } from '../../parts/mark.js';
import { nameOf } from '../../parts/states.js';
import { Ago } from '../../parts/time.js';
import { itemPath } from '../../parts/places.js';
import { useUnreadLetters } from '../../use-inbox.js';
import { useProject } from '../../use-project.js';
import { useReports } from '../../use-report.js';
import { useDraft } from '../../acts/draft.js';
import { ChangesForm, changesDraft } from './changes-form.js';
import { Key, useKeys } from '../../acts/keys.js';
import { overtake, postpone, Progress, useLater } from '../../acts/later.js';
import { useOnPage } from '../../acts/on-page.js';
import { useMay } from '../../acts/use-act.js';

/** What has happened to a project that is in a status now. */
const became: Readonly<Record<Project['status'], string>> = {
  initialized: 'made anew',
  running: 'sent back',
  submitted: 'submitted anew',
  completed: 'approved',
  stopped: 'stopped',
};

interface Version {
  readonly project: string;
  /** The version that stands beside it. */
  readonly version: number;
}

/** What can be decided on a version of a report: it stands beside that very version. */
export default function Decide({ project: id, version }: Version) {
  const detail = useProject(id).data;
  return detail ? <Decision project={detail.project} agents={detail.agents} version={version} /> : null;
}

function Decision({ project, agents, version }: { project: Project; agents: readonly Agent[]; version: number }) {
  const may = useMay();
  const about = `report ${project.id}`;
  const later = useLater(about);
  const [draft, , forget] = useDraft(...changesDraft(project.id));
  const [isOpen, setOpen] = useState(draft.body !== '');
  // In which status the report was when the person began to write, or went on in spite of what happened.
  const [read, setRead] = useState(project.status);
  const group = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useKeptFocus(group, later?.state);

  const isNewest = version === project.reportVersion;
  const { status } = project;
  const isBusy = later?.state === 'waiting' || later?.state === 'sending';
  const canApprove = isNewest && status === 'submitted' && may('approveProject');
  const mayChange = may('requestChanges');
  const canChange = isNewest && (status === 'submitted' || status === 'completed') && mayChange;
  const hasForm = mayChange && isOpen && (canChange || draft.body !== '');

  const stands = `${status} ${project.reportVersion}`;
  const stood = later?.state === 'waiting' ? later.stands : undefined;
  const meanwhile = isNewest
    ? `${project.id} was ${became[status]} meanwhile, so this was not sent.`
    : `Version ${project.reportVersion} of the report is the newest, so a decision on version ${version} was not sent: read that one first.`;
  useEffect(() => {
    if (stood === undefined || stood === stands) return;
    overtake(about, meanwhile);
    // The form shows why the decision was not sent.
    setRead(status);
  }, [about, stood, stands, meanwhile, status]);

  const postponed = { about, place: `/p/${project.id}/report?v=${version}`, changes: changesOf(project.id), stands };
  const whose = `${project.id}’s report, version ${version}`;
  const approve = () => {
    const input = { project: project.id, body: { version } };
    postpone({
      ...postponed,
      doing: `Approving ${whose}`,
      done: `You approved ${whose}`,
      input: ['approve', input],
      run: (options) => api.approveProject(input, options),
    });
  };
  const requestChanges = (recipient: string, body: string, attachments: readonly string[]) => {
    if (read !== 'submitted' && read !== 'completed') return;
    const files = attachments.length === 0 ? {} : { attachments: [...attachments] };
    const input = { project: project.id, body: { recipient, body, ...files, version, status: read } };
    const name = agents.find((agent) => agent.id === recipient);
    postpone({
      ...postponed,
      doing: `Sending ${whose}, back to ${name ? nameOf(name) : recipient}`,
      done: `You sent ${whose}, back`,
      input: ['changes', input],
      run: (options) => api.requestChanges(input, options),
      onDone: () => {
        forget();
        setOpen(false);
      },
    });
  };
  const open = () => {
    setOpen(true);
    setRead(status);
    // It may be there already, or is in a moment.
    requestAnimationFrame(() => field.current?.focus());
  };
  useKeys({
    approve: canApprove && !isBusy ? approve : undefined,
    changes: canChange && !isBusy ? open : undefined,
  });

  const act = `act-${useId()}`;
  const approving = useRef<HTMLButtonElement>(null);
  const show = () => approving.current?.focus();
  // It ends the project: the palette leads to the button, though there is a key.
  const isOffered = canApprove && !isBusy && !hasForm;
  const will = `Completes ${project.id}: no turn begins any more.`;
  useOnPage(isOffered ? { does: 'Approve', will, hotkey: 'approve', act: show, show } : undefined);
  return (
    <div className="decide" role="group" aria-label={`Decide on version ${version}`} ref={group} tabIndex={-1}>
      {later === undefined ? null : <Progress later={later} />}
      {isBusy ? null : (
        <>
          {isNewest ? null : <Newest project={project} />}
          {isNewest && later === undefined ? <SentBack project={project} agents={agents} version={version} /> : null}
          {hasForm ? (
            <ChangesForm
              project={project}
              agents={agents}
              version={version}
              field={field}
              send={canChange && read === status ? requestChanges : undefined}
              decided={
                canChange && read !== status ? <DecidedSince project={project} on={() => setRead(status)} /> : null
              }
              close={() => setOpen(false)}
            />
          ) : null}
          {canApprove || canChange ? (
            <div className="decide-acts">
              {canApprove && !hasForm ? (
                <button
                  type="button"
                  ref={approving}
                  className="button button-filled"
                  onClick={approve}
                  aria-describedby={act}
                >
                  Approve <Key name="approve" />
                </button>
              ) : null}
              {canChange && !hasForm ? (
                <button type="button" className="button" onClick={open}>
                  Request changes <Key name="changes" />
                </button>
              ) : null}
              {canApprove && !hasForm ? <UnreadLetters project={project.id} /> : null}
              {canApprove && !hasForm ? (
                <p id={act} className="decide-says">
                  Approving version {version} completes <bdi translate="no">{project.id}</bdi>: no turn begins any more.
                </p>
              ) : null}
            </div>
          ) : null}
          {status === 'submitted' && isNewest && !hasForm ? (
            <p className="decide-command">
              <span className="quiet">On the command line:</span>{' '}
              <Copyable text={`suzumio approve ${project.id} --report-version ${version}`} />
            </p>
          ) : null}
        </>
      )}
    </div>
  );
}

/** Where the button that had the focus is gone, what stands in its place has it. */
function useKeptFocus(group: RefObject<HTMLDivElement | null>, state: string | undefined): void {
  const last = useRef(state);
  useEffect(() => {
    if (last.current === state) return;
    last.current = state;
    const { activeElement } = document;
    if (activeElement !== null && activeElement !== document.body) return;
    group.current?.focus({ preventScroll: true });
  }, [group, state]);
}

function changesOf(project: string) {
  return [keys.project(project), keys.inbox, keys.projects, keys.decided];
}

/** Another version than the one beside it is to be decided on. */
function Newest({ project }: { project: Project }) {
  if (project.status !== 'submitted') return null;
  return (
    <p className="decide-newest">
      <Mark kind="report" /> Version {project.reportVersion} is submitted.{' '}
      <Link href={`/p/${project.id}/report?v=${project.reportVersion}`} className="button">
        Show version {project.reportVersion}
      </Link>
    </p>
  );
}

/** That a report was approved, or submitted again, while the request was written. */
function DecidedSince({ project, on }: { project: Project; on: () => void }) {
  const newest = useReports(project.id).data?.find(({ version }) => version === project.reportVersion);
  const decision = newest?.decision ?? null;
  return (
    <p className="decide-newest" role="status">
      <Mark kind="done" />
      <span>
        {decision === null ? (
          <>
            <bdi translate="no">{project.id}</bdi> was {became[project.status]} while you wrote.
          </>
        ) : (
          <>
            <bdi>{decision.by}</bdi> {decision.kind === 'approved' ? 'approved' : 'sent back'} version{' '}
            {project.reportVersion} <Ago at={decision.at} inWords />, while you wrote.
          </>
        )}{' '}
        Nothing was sent.
      </span>
      <button type="button" className="button" onClick={on}>
        {project.status === 'completed' ? 'Send it back all the same' : 'Go on'}
      </button>
    </p>
  );
}

/** That agents wrote what was not done with yet: approving does not read them. */
function UnreadLetters({ project }: { project: string }) {
  const letters = useUnreadLetters(project);
  const [newest] = letters.data ?? [];
  if (newest === undefined) return null;
  const number = letters.data?.length ?? 0;
  return (
    <p className="decide-unread">
      <Mark kind="message" />
      <span>
        {number === 1
          ? 'A letter to you from this project is unread.'
          : `${number} letters to you from this project are unread.`}{' '}
        <Link href={itemPath(newest.id)} className="linked">
          Read {number === 1 ? 'it' : 'the newest'}
        </Link>
      </span>
    </p>
  );
}

/** That changes of the newest version were asked for, and who works on the next. */
function SentBack({ project, agents, version }: { project: Project; agents: readonly Agent[]; version: number }) {
  const isRunning = project.status === 'running';
  const asked = useQuery({
    queryKey: [...keys.project(project.id), 'sent back'],
    queryFn: async () => {
      const query = { types: ['project.changes-requested' as const], order: 'desc' as const, limit: 1 };
      return (await api.listEvents({ project: project.id, query })).items[0] ?? null;
    },
    enabled: isRunning,
  }).data;
  const { version: of, recipient } = (asked?.data ?? {}) as { version?: number; recipient?: string };
  if (!isRunning || asked == null || of !== version) return null;
  const agent = agents.find(({ id }) => id === recipient);
  return (
    <p className="decide-newest">
      <Mark kind="running" />
      <span>
        <bdi>{asked.actor}</bdi> sent version {version} back to <bdi>{agent ? nameOf(agent) : recipient}</bdi>,{' '}
        <Ago at={asked.createdAt} inWords />. The next version comes to the inbox.
      </span>
      <Link href={`/p/${project.id}/mail?from=user`} className="button">
        What was asked for
      </Link>
    </p>
  );
}
