import { SuzumioError } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useId, useRef, useState } from 'react';
import { useDraft } from '../../../acts/draft.js';
import { Outcome } from '../../../acts/run/bar.js';
import { asked, type Run } from '../../../acts/run/use-run.js';
import { api, wordsOf } from '../../../api.js';
import { Copyable } from '../../../parts/copy.js';
import { Failure } from '../../../parts/failure.js';
import { useRested } from '../../../parts/use-rested.js';
import { Refused } from '../../make/choose-file.js';
import type { EditorHandle, Marked } from '../../make/editor.js';
import { givenFile, givenText, mostBytes } from '../../make/given.js';
import { Problems } from '../../make/problems.js';
import { type Checked, checkFile, wholeFile } from './check-file.js';
import { Newer } from './newer.js';
import { WhatChanges } from './what-changes.js';

const Editor = lazy(() => import('../../make/editor.js'));
const none: readonly Marked[] = [];
const emptied: Checked = { problems: [{ line: 1, column: 1, message: 'the file is empty' }], warnings: [], notes: [] };
/** Nothing is written; `base` is the version that it was begun from. */
const empty = { file: '', base: 0 };

/** What a new version is begun from. */
interface Begun {
  readonly file: string;
  readonly base: number;
  /** Whether the file as it was given reads others, so that it was resolved. */
  readonly isRendered: boolean;
}

interface Props {
  readonly project: string;
  /** The version that is in force. */
  readonly newest: number;
  readonly run: Run;
  readonly onLeave: () => void;
}

/** A new version of a project's file, written from the newest, or gone on with where it was left. */
export default function ChangeFile(props: Props) {
  const [begun] = useState(props.newest);
  const read = useQuery({
    queryKey: ['config-whole', props.project, begun],
    queryFn: () => wholeFile(props.project, begun),
    staleTime: Infinity,
    gcTime: 60_000,
  });
  if (read.data !== undefined) return <Changing {...props} begun={{ ...read.data, base: begun }} />;
  return read.error ? <Failure error={read.error} again={() => void read.refetch()} /> : null;
}

function Changing({ project, newest, run, onLeave, begun }: Props & { begun: Begun }) {
  const [draft, setDraft, forget] = useDraft(`project file ${project}`, empty);
  const { file, base } = draft.base === 0 ? begun : draft;
  const editor = useRef<EditorHandle>(null);
  const [refused, setRefused] = useState('');
  /** The text and the version whose differences are looked at. */
  const [looked, setLooked] = useState('');
  /** What was refused before it was compared anew. */
  const [past, setPast] = useState(run.error);
  const problemsId = useId();

  const rested = useRested(file);
  const check = useQuery({
    queryKey: ['config-check', project, newest, rested],
    queryFn: () => checkFile(project, rested),
    enabled: rested.trim() !== '',
    placeholderData: (last) => last,
    gcTime: 60_000,
  });
  const schema = useQuery({ queryKey: ['project-file-schema'], queryFn: () => api.getProjectFileSchema() });
  const isEmpty = file.trim() === '';
  const checked = isEmpty ? emptied : check.data;
  const isFresh = isEmpty || (rested === file && checked !== undefined && !check.isPlaceholderData);
  const difference = isFresh ? checked?.difference : undefined;
  const inForce = Math.max(newest, difference?.version ?? 0);
  const isNewer = inForce !== base;
  const isConflict = run.error instanceof SuzumioError && run.error.code === 'config-conflict';

  const take = (text: string) => {
    setDraft({ file: text, base });
    editor.current?.replace(text);
  };
  const onGiven = ({ text, files }: { text?: string; files?: readonly File[] }) => {
    const [first] = files ?? [];
    if (first) {
      givenFile(first).then(
        (given) => ('refused' in given ? setRefused(given.refused) : take(given.text)),
        (error: unknown) => setRefused(wordsOf(error)),
      );
      return true;
    }
    const given = text === undefined ? undefined : givenText(text);
    if (given === undefined || !('refused' in given)) return false;
    setRefused(given.refused);
    return true;
  };
  const apply = () =>
    run.ask(
      asked('applyConfig', { project, body: { file, baseVersion: base } }),
      `Version ${base + 1} is in force.`,
      undefined,
      () => {
        forget();
        onLeave();
      },
    );
  const place = `${inForce} ${file}`;
  return (
    <div className="page setup setup-change">
      <section className="make-file" aria-label="The file as it is to be">
        <div className="make-bar">
          <h2>A new version of the file</h2>
          <span className="quiet">
            from version {base}. Values that are <code translate="no">(hidden)</code> stay what they are.
            {begun.isRendered
              ? ' The file as it was given reads others of the machine that it is on; here everything stands in its place.'
              : ''}
          </span>
        </div>
        <Refused words={refused} />
        <Suspense
          fallback={
            <textarea
              className="make-code make-plain"
              aria-label="Project file"
              value={file}
              onChange={({ target }) => setDraft({ file: target.value, base })}
            />
          }
        >
          <Editor
            ref={editor}
            text={file}
            onText={(text) => {
              setRefused('');
              setDraft(text === begun.file && base === begun.base ? empty : { file: text, base });
            }}
            onGiven={onGiven}
            problems={checked?.problems ?? none}
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
          id={problemsId}
          checked={checked}
          error={null}
          isFresh={isFresh}
          go={({ line, column }) => editor.current?.go(line, column)}
        />
      </section>
      <div className="setup-side">
        {isNewer ? (
          <Newer
            project={project}
            base={base}
            inForce={inForce}
            compare={() => {
              setPast(run.error);
              setDraft({ file, base: inForce });
              setLooked(`${inForce} ${file}`);
            }}
          />
        ) : check.error && !isEmpty ? (
          <Failure error={check.error} again={() => void check.refetch()} />
        ) : (
          <WhatChanges
            checked={isFresh ? checked : undefined}
            isSame={file === begun.file && base === begun.base}
            isLooked={looked === place}
            look={() => setLooked(place)}
            isPending={run.isPending}
            apply={apply}
            problemsId={problemsId}
          />
        )}
        {run.error === past || (isConflict && isNewer) ? null : <Outcome run={run} />}
        <div className="setup-leave">
          <button type="button" className="button" onClick={onLeave}>
            {draft.base === 0 ? 'Leave it as it is' : 'Go on later'}
          </button>
          {draft.base === 0 ? null : (
            <button
              type="button"
              className="button"
              onClick={() => {
                forget();
                onLeave();
              }}
            >
              Throw away what I have written
            </button>
          )}
        </div>
        <p>
          <Copyable text={`suzumio config apply ${project} FILE --base ${base}`} />
        </p>
      </div>
    </div>
  );
}
