import type { Agent, Project } from '@suzumio/sdk/client';
import { type RefObject, useEffect, useId, useRef, useState } from 'react';
import { Link } from 'wouter';
import { api, keys } from '../api.js';
import { Copyable } from '../parts/copy.js';
import { Mark } from '../parts/mark.js';
import { nameOf } from '../parts/states.js';
import { useProject } from '../use-project.js';
import { useDraft } from './draft.js';
import { heardByItself, Key, useKeys } from './keys.js';
import { postpone, Progress, useLater } from './later.js';
import { useOnPage } from './on-page.js';
import { useMay } from './use-act.js';

/** So much is sent even where the page is closed: it has 64 kB for all that it sends then. */
const mostChars = 10_000;
const nothing = { recipient: '', body: '' };

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
  const [draft, , forget] = useDraft(`changes ${project.id}`, nothing);
  const [isOpen, setOpen] = useState(draft.body !== '');
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

  const postponed = { about, place: `/p/${project.id}/report?v=${version}`, changes: changesOf(project.id) };
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
  const requestChanges = (recipient: string, body: string) => {
    const input = { project: project.id, body: { recipient, body, version } };
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
          {hasForm ? (
            <ChangesForm
              project={project}
              agents={agents}
              version={version}
              field={field}
              send={canChange ? requestChanges : undefined}
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
              {canApprove && !hasForm ? (
                <p id={act} className="decide-says">
                  Approving version {version} completes <bdi>{project.id}</bdi>: no turn begins any more.
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

interface FormProps {
  project: Project;
  agents: readonly Agent[];
  version: number;
  field: RefObject<HTMLTextAreaElement | null>;
  /** Nothing where changes cannot be requested now: what was written stays. */
  send: ((recipient: string, body: string) => void) | undefined;
  close: () => void;
}

/** What is to be changed, and by whom: by who submitted it, unless another is chosen. */
function ChangesForm({ project, agents, version, field, send, close }: FormProps) {
  const [draft, change] = useDraft(`changes ${project.id}`, nothing);
  const submitter = project.reportBy;
  const [first] = agents;
  const chosen = [draft.recipient, submitter].find((id) => agents.some((agent) => agent.id === id)) ?? first?.id ?? '';
  const named = agents.find(({ id }) => id === chosen);
  const says = `changes-${useId()}`;
  useKeys({ send: send && heardByItself });
  const submit = send !== undefined && /\S/.test(draft.body) ? () => send(chosen, draft.body) : undefined;
  return (
    <form
      className="changes"
      onSubmit={(event) => {
        event.preventDefault();
        if (submit) submit();
        else field.current?.focus();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') close();
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit?.();
      }}
    >
      <label className="changes-text">
        What is to be changed in version {version}
        <textarea
          ref={field}
          className="input"
          rows={4}
          maxLength={mostChars}
          value={draft.body}
          required
          aria-describedby={says}
          onChange={({ target }) => change({ ...draft, body: target.value })}
        />
      </label>
      <div className="decide-acts">
        <label className="field">
          To{' '}
          <select value={chosen} onChange={({ target }) => change({ ...draft, recipient: target.value })}>
            {agents.map((agent) => (
              <option key={agent.id} value={agent.id}>
                {nameOf(agent)}
                {agent.id === submitter ? ', who submitted it' : ''}
              </option>
            ))}
          </select>
        </label>
        {send === undefined ? null : (
          <button type="submit" className="button button-filled" aria-describedby={says}>
            Send back
          </button>
        )}
        <button type="button" className="button" onClick={close}>
          Close
        </button>
        <p id={says} className="decide-says">
          {send === undefined ? (
            'Changes of this version cannot be requested any more. What you have written stays here.'
          ) : (
            <>
              <bdi>{named ? nameOf(named) : chosen}</bdi> reads it as mail, and <bdi>{project.id}</bdi> runs again.
            </>
          )}
        </p>
      </div>
    </form>
  );
}
