import { type ReactNode, useMemo } from 'react';
import { Markdown } from '../markdown.js';
import { visible } from '../visible.js';
import { some } from '../numbers.js';
import { Picture } from '../picture.js';
import { type Cell, type Output, readNotebook } from './read-notebook.js';

/**
 * A Jupyter notebook: its words, its code, and what that has printed and drawn. Nothing of it runs.
 *
 * @param instead what is shown where it is none
 */
export default function Notebook({ text, instead }: { text: string; instead: ReactNode }) {
  const notebook = useMemo(() => readNotebook(text), [text]);
  if (notebook === undefined) {
    return (
      <>
        <p className="preview-note">It is no notebook that can be read: this is its text.</p>
        {instead}
      </>
    );
  }
  return (
    <div className="notebook">
      {notebook.cells.map((cell, index) => (
        <CellView key={index} cell={cell} />
      ))}
      {notebook.left > 0 ? <p className="empty-line">and {some(notebook.left, 'more cell', 'more cells')}</p> : null}
    </div>
  );
}

function CellView({ cell }: { cell: Cell }) {
  if (cell.kind === 'markdown') return <Markdown text={cell.source} />;
  if (cell.source === '' && cell.outputs.length === 0) return null;
  return (
    <div className="notebook-cell">
      <span className="notebook-run">{cell.kind === 'code' ? `[${cell.run ?? ' '}]` : null}</span>
      <div className="notebook-parts">
        {cell.source === '' ? null : (
          <pre translate="no" className="notebook-source">
            <code translate="no">{visible(cell.source)}</code>
          </pre>
        )}
        {cell.outputs.map((output, index) => (
          <OutputView key={index} output={output} />
        ))}
        {cell.left > 0 ? <p className="quiet">and {some(cell.left, 'more output')}</p> : null}
      </div>
    </div>
  );
}

function OutputView({ output }: { output: Output }) {
  if (output.kind === 'picture') {
    return <Picture content={output.content} type={output.type} alt="A picture that this code has drawn" />;
  }
  return (
    <pre translate="no" className={output.kind === 'error' ? 'notebook-output notebook-error' : 'notebook-output'}>
      {visible(output.text)}
    </pre>
  );
}
