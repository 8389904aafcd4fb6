import type { CreatedProject, Example } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { type DragEvent, lazy, Suspense, useId, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api, isForbidden, keys, wordsOf } from '../../api.js';
import { useDraft } from '../../acts/draft.js';
import { useAct } from '../../acts/use-act.js';
import { useMayMake } from '../../acts/use-may-make.js';
import { Copyable } from '../../parts/copy.js';
import { visible } from '../../parts/visible.js';
import { useRested } from '../../parts/use-rested.js';
import { ChooseFile, Refused } from './choose-file.js';
import type { EditorHandle, Marked } from './editor.js';
import { FirstMail } from './first-mail.js';
import { Gallery } from './gallery.js';
import { type Given, givenFile, givenText, mostBytes } from './given.js';
import { Problems } from './problems.js';
import { useFileOf } from './use-file-of.js';
import { useLast } from './use-last.js';
import { nameIn, toMend, whatFollows } from './what-follows.js';
import { WouldBe } from './would-be.js';
import { useTitle } from '../../title.js';

const Editor = lazy(() => import('./editor.js'));

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
  const createButton = useRef<HTMLButtonElement>(null);
  const [refused, setRefused] = useState('');
  const [said, setSaid] = useState('');
  /** What was said of problems when the button was pressed. */
  const [stopped, setStopped] = useState('');
  const [before, setBefore] = useState<typeof empty>();
  /** How many files have taken the place of what was written. */
  const [taken, setTaken] = useState(0);
  /** The mail that came with an example. */
  const exampleMail = useRef('');
  const ids = { why: useId(), problems: useId() };

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

  const project = useLast(isFresh ? (checked.project ?? undefined) : undefined, isEmpty ? undefined : taken);
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
    setTaken((number) => number + 1);
    setSaid(what);
    create.reset();
    write(part);
    if (part.file !== undefined) editor.current?.replace(part.file);
  };
  const takeGiven = (given: Given, name: string) => {
    if ('refused' in given) setRefused(given.refused);
    else takeText(given.text, `${name} is in the editor.`);
  };
  /** A file that comes without mail: what somebody has written stays, an example's mail does not. */
  const takeText = (file: string, what: string) =>
    take({ file, ...(draft.mail === exampleMail.current ? { recipient: '', mail: '' } : {}) }, what);
  useFileOf((file, id) =>
    takeText(file, `The file of ${id} is in the editor, without values of variables and headers. Name it otherwise.`),
  );
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
      setStopped(toMend(problems));
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
          onChoose={(one: Example) => {
            exampleMail.current = one.mail?.body ?? '';
            take(
              { file: one.file, recipient: one.mail?.recipient ?? '', mail: exampleMail.current },
              `The file of ${one.title} is in the editor.`,
            );
            // The examples are folded up, with the button that had the focus.
            requestAnimationFrame(() => createButton.current?.focus());
          }}
        />
        <section className="make-file" aria-label="Project file">
          <div className="make-bar">
            <h2>Project file</h2>
            <span className="quiet">Write it, paste it, drop a file here, or</span>
            <ChooseFile onFile={takeFile} />
          </div>
          <Refused words={refused} />
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
                setStopped('');
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
          <p className="make-leave quiet" aria-hidden>
            Tab indents; Escape and then Tab leaves the file.
          </p>
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
        <FirstMail agents={agents} recipient={recipient} mail={draft.mail} write={write} />
        {isEmpty ? (
          <p className="quiet">Once there is a file, its project can be created and started here.</p>
        ) : (
          <div className="make-act">
            <p id={ids.why} className={isFresh && problems.length > 0 ? 'make-count' : 'quiet'}>
              {isFresh && problems.length > 0
                ? toMend(problems)
                : whatFollows(project, draft.mail.trim() === '' ? undefined : nameIn(agents, recipient))}
            </p>
            <p role="status" className="visually-hidden">
              {stopped}
            </p>
            <button
              type="button"
              ref={createButton}
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
