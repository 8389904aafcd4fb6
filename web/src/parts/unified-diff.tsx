import { useMemo, useState } from 'react';
import { visible } from './visible.js';
import { count, some } from './numbers.js';
import { type DiffFile, type DiffRow, parseDiff } from './parse-diff.js';

const firstFiles = 20;
const firstRows = 200;
const moreRows = 1_000;
const mostChars = 4_000;

const signs = { added: '+', changed: '~', removed: '−' } as const;

/**
 * A unified diff: which files have changed, and then each of them.
 *
 * @param none what is said where nothing differs
 */
export function UnifiedDiff({ text, none }: { text: string; none: string }) {
  const diff = useMemo(() => parseDiff(text), [text]);
  const [files, setFiles] = useState(firstFiles);
  if (diff.files.length === 0 && diff.notes.length === 0) return <p className="empty-line">{none}</p>;
  const left = diff.files.length - files;
  return (
    <div className="changes">
      <ul className="changed-files">
        {diff.files.slice(0, files * 5).map(({ path, change, added, removed }, index) => (
          <li key={`${path} ${index}`} className="changed-file">
            <span className={`sign sign-${change}`} title={change}>
              {signs[change]}
            </span>
            <code translate="no" className="clip">
              <bdi>{visible(path)}</bdi>
            </code>
            <Counts added={added} removed={removed} />
          </li>
        ))}
        {diff.notes.map((note, index) => (
          <li key={index} className="changed-note">
            <bdi>{visible(note.slice(0, 600))}</bdi>
          </li>
        ))}
      </ul>
      {diff.files.slice(0, files).map((file, index) => (
        <FileDiff key={`${file.path} ${index}`} file={file} />
      ))}
      {left > 0 ? (
        <button type="button" className="button" onClick={() => setFiles(files + firstFiles)}>
          Show {some(Math.min(left, firstFiles), 'more file')} of {count(left)}
        </button>
      ) : null}
    </div>
  );
}

function Counts({ added, removed }: { added: number; removed: number }) {
  return (
    <span className="diff-counts">
      {added > 0 || removed === 0 ? <span className="sign-added">+{count(added)}</span> : null}{' '}
      {removed > 0 ? <span className="sign-removed">−{count(removed)}</span> : null}
    </span>
  );
}

function FileDiff({ file: { path, rows, added, removed } }: { file: DiffFile }) {
  const [most, setMost] = useState(firstRows);
  const left = rows.length - most;
  return (
    <section className="file-diff" aria-label={visible(path)}>
      <header className="file-diff-head">
        <code translate="no" className="clip">
          <bdi>{visible(path)}</bdi>
        </code>
        <Counts added={added} removed={removed} />
      </header>
      <div className="file-diff-rows" tabIndex={0} role="group" aria-label={`Lines of ${visible(path)}`}>
        <table className="diff">
          <tbody>
            {rows.slice(0, most).map((row, index) => (
              <Row key={index} row={row} />
            ))}
          </tbody>
        </table>
      </div>
      {left > 0 ? (
        <button type="button" className="link-button file-diff-more" onClick={() => setMost(most + moreRows)}>
          Show {some(Math.min(left, moreRows), 'more line')} of {count(left)}
        </button>
      ) : null}
    </section>
  );
}

const marks = { same: '', added: '+', removed: '−', gap: '', note: '' } as const;
const words = { added: 'added', removed: 'removed' } as const;

function Row({ row: { kind, before, after, text, changed } }: { row: DiffRow }) {
  const shown = text.slice(0, mostChars);
  const [from, to] = changed ?? [0, 0];
  return (
    <tr className={`diff-${kind}`}>
      <td className="diff-number">{before}</td>
      <td className="diff-number">{after}</td>
      <td className="diff-sign">
        {kind === 'added' || kind === 'removed' ? <span className="visually-hidden">{words[kind]}</span> : null}
        <span aria-hidden>{marks[kind]}</span>
      </td>
      <td className="diff-text">
        <bdi>
          {to > from && from < mostChars ? (
            <>
              {visible(shown.slice(0, from))}
              <u>{visible(shown.slice(from, to))}</u>
              {visible(shown.slice(to))}
            </>
          ) : (
            visible(shown)
          )}
        </bdi>
        {text.length > mostChars ? (
          <span className="quiet"> … {count(text.length - mostChars)} more characters</span>
        ) : null}
      </td>
    </tr>
  );
}
