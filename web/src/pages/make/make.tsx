import type { CheckedProjectFile, CreatedProject, Example } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { type DragEvent, lazy, Suspense, useEffect, useId, useMemo, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api, isForbidden, keys, wordsOf } from '../../api.js';
import { useDraft } from '../../acts/draft.js';
import { useAct } from '../../acts/use-act.js';
import { useMayMake } from '../../acts/use-may-make.js';
import { Copyable } from '../../parts/copy.js';
import { visible } from '../../parts/visible.js';
import { count, dollars, some } from '../../parts/numbers.js';
import type { EditorHandle, Marked } from './editor.js';
import { Gallery } from './gallery.js';
import { type Given, givenFile, givenText, mostBytes } from './given.js';
import { useTitle } from '../../title.js';

const Editor = lazy(() => import('./editor.js'));

/** How long nothing is typed before the file is checked. */
const restMs = 400;
const mostShown = 50;
const none: readonly Marked[] = [];

/** A new project: its file, what it would be, and its first mail. */
export default function Make() {
  const mayMake = useMayMake();
  useTitle('New project');
  return (
    <>
      <header className="head">
        <h1>New project</h1>
        <Link href="/projects" className="button head-act">
          All projects
        </Link>
      </header>
      {mayMake ? <Making /> : <MayNot />}
    </>
  );
}

function MayNot() {
  return (
    <div className="empty">
      <h2>Making projects is not yours here</h2>
      <p>
        It takes a token of the scope write, for all projects. Who has the data directory makes one with the command:
      </p>
      <Copyable text="suzumio init FILE" />
    </div>
  );
}

/** What was not sent yet, and stays over a reload. */
const empty = { file: '', recipient: '', mail: '' };

function Making() {
  const [draft, setDraft, forget] = useDraft('new project', empty);
  const [, navigate] = useLocation();
  const editor = useRef<EditorHandle>(null);
  const [refused, setRefused] = useState('');
  const [said, setSaid] = useState('');
  const [before, setBefore] = useState<typeof empty>();
  const ids = { why: useId(), mail: useId(), recipient: useId(), problems: useId() };

  const rested = useRested(draft.file);
  const check = useQuery({
    queryKey: ['project-file-check', rested],
    queryFn: () => api.checkProjectFile({ body: { file: rested } }),
    enabled: rested.trim() !== '',
    placeholderData: (last) => last,
    gcTime: 60_000,
    retry: 1,
  });
  const schema = useQuery({ queryKey: ['project-file-schema'], queryFn: () => api.getProjectFileSchema() });
  const isEmpty = draft.file.trim() === '';
  const checked = isEmpty ? undefined : check.data;
  const isFresh = rested === draft.file && checked !== undefined && !check.isPlaceholderData;
  const problems = checked?.problems ?? none;

  /** The last project that the file was: it stays while a line is being written. */
  const project = useLast(isEmpty ? null : (checked?.project ?? undefined));
  const agents = project?.agents ?? [];
  const recipient = agents.some(({ id }) => id === draft.recipient) ? draft.recipient : (agents[0]?.id ?? '');

  const create = useAct<{ file: string; recipient: string; mail: string }, CreatedProject>(
    ({ file, recipient: to, mail }, options) =>
      api.createProject(
        {
          body: {
            file,
            start: true,
            ...(mail.trim() === '' ? {} : { message: { recipient: to, body: mail } }),
          },
        },
        options,
      ),
    [keys.projects, keys.inbox],
  );

  const write = (part: Partial<typeof empty>) => setDraft((last) => ({ ...last, ...part }));
  const take = (part: Partial<typeof empty>, what: string) => {
    setRefused('');
    setBefore(isEmpty ? undefined : draft);
    setSaid(what);
    create.reset();
    write(part);
    if (part.file !== undefined) editor.current?.replace(part.file);
  };
  const takeGiven = (given: Given, name: string) => {
    if ('refused' in given) setRefused(given.refused);
    else take({ file: given.text }, `${name} is in the editor.`);
  };
  const takeFile = (file: File | undefined) => {
    if (file === undefined) return;
    givenFile(file).then(
      (given) => takeGiven(given, visible(file.name)),
      (error: unknown) => setRefused(wordsOf(error)),
    );
  };
  const onGiven = ({ text, files }: { text?: string; files?: readonly File[] }) => {
    if (files) takeFile(files[0]);
    const given = text === undefined ? undefined : givenText(text);
    if (given && 'refused' in given) setRefused(given.refused);
    return files !== undefined || (given !== undefined && 'refused' in given);
  };
  const go = ({ line, column }: Marked) => editor.current?.go(line, column);
  const submit = () => {
    const [first] = problems;
    if (isFresh && first) {
      setSaid(`${some(problems.length, 'problem')} to mend first. ${first.line}:${first.column} ${first.message}`);
      go(first);
      return;
    }
    create.mutate(
      { file: draft.file, recipient, mail: draft.mail },
      {
        onSuccess: (made) => {
          forget();
          navigate(`/p/${made.project.id}`);
          document.getElementById('content')?.focus();
        },
      },
    );
  };

  return (
    <div
      className="make"
      onDragOver={(event: DragEvent) => event.preventDefault()}
      onDrop={(event: DragEvent) => {
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        takeFile(event.dataTransfer.files[0]);
      }}
    >
      <div className="make-main">
        <Gallery
          isOpen={isEmpty}
          onChoose={(one: Example) =>
            take(
              { file: one.file, recipient: one.mail?.recipient ?? '', mail: one.mail?.body ?? '' },
              `The file of ${one.title} is in the editor.`,
            )
          }
        />
        <section className="make-file" aria-label="Project file">
          <div className="make-bar">
            <h2>Project file</h2>
            <span className="quiet">Write it, paste it, drop a file here, or</span>
            <label className="button make-upload">
              Choose a file
              <input
                type="file"
                className="visually-hidden"
                onChange={({ target }) => {
                  takeFile(target.files?.[0]);
                  target.value = '';
                }}
              />
            </label>
          </div>
          {refused === '' ? null : (
            <p className="make-refused" role="alert">
              <bdi>{visible(refused)}</bdi>
            </p>
          )}
          <p className="make-said" role="status">
            {said}{' '}
            {before === undefined ? null : (
              <button
                type="button"
                className="button"
                onClick={() => {
                  setDraft(before);
                  editor.current?.replace(before.file);
                  setBefore(undefined);
                  setSaid('What you had written is back.');
                }}
              >
                Take back what I had written
              </button>
            )}
          </p>
          <Suspense
            fallback={
              <textarea
                className="make-code make-plain"
                aria-label="Project file"
                value={draft.file}
                onChange={({ target }) => write({ file: target.value })}
              />
            }
          >
            <Editor
              ref={editor}
              text={draft.file}
              onText={(file) => {
                setRefused('');
                write({ file });
              }}
              onGiven={onGiven}
              problems={problems}
              notes={checked?.notes ?? none}
              schema={schema.data}
              mostChars={mostBytes}
              onFull={() => setRefused('A project file has no room for this. Nothing was changed.')}
            />
          </Suspense>
          <Problems
            id={ids.problems}
            checked={checked}
            error={isEmpty ? null : check.error}
            isFresh={isFresh}
            go={go}
          />
        </section>
      </div>
      <div className="make-side">
        <WouldBe project={project} />
        <section aria-label="The first mail">
          <h2>The first mail</h2>
          <div className="make-fields">
            <label htmlFor={ids.recipient}>To</label>
            <select
              id={ids.recipient}
              className="input"
              value={recipient}
              onChange={({ target }) => write({ recipient: target.value })}
            >
              {agents.length === 0 ? <option value="">the agents of the file</option> : null}
              {agents.map(({ id, displayName }) => (
                <option key={id} value={id}>
                  {visible(displayName === null ? id : `${displayName} (${id})`)}
                </option>
              ))}
            </select>
            <label htmlFor={ids.mail}>What it says</label>
            <textarea
              id={ids.mail}
              className="input make-mail"
              rows={4}
              value={draft.mail}
              onChange={({ target }) => write({ mail: target.value })}
            />
          </div>
        </section>
        {isEmpty ? (
          <p className="quiet">Once there is a file, its project can be created and started here.</p>
        ) : (
          <div className="make-act">
            <p id={ids.why} className="quiet">
              {sentence(project, draft.mail.trim() === '' ? undefined : recipient)}
            </p>
            <button
              type="button"
              className="button button-filled"
              aria-describedby={ids.why}
              aria-disabled={create.isPending}
              onClick={() => (create.isPending ? undefined : submit())}
            >
              {create.isPending ? 'Creating…' : 'Create and start'}
            </button>
            {create.error ? (
              <p className="make-refused" role="alert">
                <bdi>{visible(wordsOf(create.error).replaceAll(/^file:/gm, ''))}</bdi>{' '}
                {isForbidden(create.error) ? '' : 'Nothing was created; what you have written is still here.'}
              </p>
            ) : null}
          </div>
        )}
      </div>
    </div>
  );
}

/** A text as it was when nothing had been typed for a moment. */
function useRested(text: string): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), restMs);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}

/** The last value that was known; null forgets it. */
function useLast<Value>(value: Value | undefined | null): Value | undefined {
  const [last, setLast] = useState<Value>();
  useEffect(() => {
    if (value !== undefined) setLast(value ?? undefined);
  }, [value]);
  return value === null ? undefined : (value ?? last);
}

type Filed = NonNullable<CheckedProjectFile['project']>;

/** What pressing the button does. */
function sentence(project: Filed | undefined, recipient: string | undefined): string {
  const made = project ? `Makes ${project.name} with ${some(project.agentCount, 'agent')}` : 'Makes the project';
  const mail =
    recipient === undefined
      ? ' and starts it. Its agents wait for mail.'
      : `, starts it, and sends your mail${recipient === '' ? '' : ` to ${recipient}`}.`;
  return made + mail;
}

function Problems({
  id,
  checked,
  error,
  isFresh,
  go,
}: {
  id: string;
  checked: CheckedProjectFile | undefined;
  error: Error | null;
  isFresh: boolean;
  go: (problem: Marked) => void;
}) {
  const problems = checked?.problems ?? [];
  const said = [
    ...problems.map((problem) => ({ ...problem, kind: '' })),
    ...(checked?.warnings ?? []).map((warning) => ({ ...warning, kind: 'Probably not meant: ' })),
    ...(checked?.notes ?? []).map((note) => ({ ...note, kind: 'Note: ' })),
  ];
  const words = useMemo(() => {
    if (checked === undefined) return '';
    return problems.length === 0 ? 'Nothing is wrong with this file.' : some(problems.length, 'problem');
  }, [checked, problems.length]);
  return (
    <div className="make-problems" id={id}>
      {error ? (
        <p role="alert">
          It could not be checked: <bdi>{wordsOf(error)}</bdi>
        </p>
      ) : null}
      <p role="status" className={problems.length > 0 ? 'make-count' : 'quiet'}>
        {isFresh || checked === undefined ? words : `${words} Checking…`}
      </p>
      <ul>
        {said.slice(0, mostShown).map((problem) => (
          <li key={`${problem.line}:${problem.column} ${problem.message}`}>
            <button type="button" className="make-problem" onClick={() => go(problem)}>
              <span className="make-place">
                {problem.line}:{problem.column}
              </span>{' '}
              <span>
                {problem.kind === '' ? null : <b>{problem.kind}</b>}
                <bdi>{visible(problem.message.slice(0, 1_000))}</bdi>
              </span>
            </button>
          </li>
        ))}
      </ul>
      {said.length > mostShown ? <p className="quiet">and {count(said.length - mostShown)} more</p> : null}
    </div>
  );
}

const mostAgents = 12;

function WouldBe({ project }: { project: Filed | undefined }) {
  if (project === undefined) return null;
  const { agents, agentCount, budget, image, network, providers, directories, repositories } = project;
  const facts: [string, string][] = [
    ['Budget', budget === null ? 'none: nothing stops it but you' : limitsOf(budget)],
    ...(image === null ? [] : ([['Runs in', `${image}, network ${network ?? 'none'}`]] as [string, string][])),
    ...providers.map(({ address, key }): [string, string] => ['Asks', `${address}, with the key ${key}`]),
    ...directories.map((path): [string, string] => ['Copies or mounts', path]),
    ...repositories.map((path): [string, string] => ['Clones', path]),
  ];
  return (
    <section aria-label="What it would be">
      <h2>
        <bdi>{visible(project.name)}</bdi> <span className="pane-note">{some(agentCount, 'agent')}</span>
      </h2>
      <p className="make-task">
        <bdi>{visible(project.task)}</bdi>
      </p>
      <ul className="make-agents">
        {agents.slice(0, mostAgents).map(({ id, displayName, role, model, backend }) => (
          <li key={id}>
            <b>
              <bdi>{visible(displayName ?? id)}</bdi>
            </b>{' '}
            <span className="quiet">
              <bdi>
                {visible(role)}
                {model === null ? '' : `, ${visible(model)}`}
                {backend === 'docker' ? '' : `, ${backend}`}
              </bdi>
            </span>
          </li>
        ))}
        {agentCount > mostAgents ? <li className="quiet">and {count(agentCount - mostAgents)} more</li> : null}
      </ul>
      <dl className="make-facts">
        {facts.slice(0, 20).map(([name, value]) => (
          <div key={`${name} ${value}`}>
            <dt>{name}</dt>
            <dd>
              <bdi>{visible(value)}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function limitsOf({ usd, tokens, turns }: NonNullable<Filed['budget']>): string {
  return [
    usd === undefined ? [] : [dollars(usd)],
    tokens === undefined ? [] : [some(tokens, 'token')],
    turns === undefined ? [] : [some(turns, 'turn')],
  ]
    .flat()
    .join(', ');
}
