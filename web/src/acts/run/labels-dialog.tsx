import { useId, useState } from 'react';
import { useProject } from '../../use-project.js';
import { visible } from '../../parts/visible.js';
import { Outcome } from './bar.js';
import { Dialog } from './dialog.js';
import { asked, useRun } from './use-run.js';

/** What a project is filed under: labels that are set and removed, each at once. */
export function LabelsDialog({ project }: { project: string }) {
  const id = useId();
  const run = useRun(project);
  const labels = Object.entries(useProject(project).data?.project.labels ?? {});
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  return (
    <Dialog
      title={
        <>
          Labels of <bdi translate="no">{project}</bdi>
        </>
      }
    >
      {(close) => (
        <>
          {labels.length === 0 ? <p className="quiet">It has none.</p> : null}
          <ul className="labels">
            {labels.map(([key, value]) => (
              <li key={key} className="labels-row">
                <span>
                  <bdi>{visible(key)}</bdi> = <bdi>{visible(value)}</bdi>
                </span>
                <button
                  type="button"
                  className="button"
                  aria-describedby={id}
                  onClick={() =>
                    run.ask(asked('labelProject', { project, body: { remove: [key] } }), `${key} is removed.`)
                  }
                >
                  Remove <span className="visually-hidden">{key}</span>
                </button>
              </li>
            ))}
          </ul>
          <form
            className="labels-new"
            onSubmit={(event) => {
              event.preventDefault();
              run.ask(asked('labelProject', { project, body: { set: { [name]: text } } }), `${name} is set.`);
            }}
          >
            <label className="dialog-field">
              <span>Name</span>
              <input className="input" value={name} onChange={({ target }) => setName(target.value)} />
            </label>
            <label className="dialog-field">
              <span>Text</span>
              <input className="input" value={text} onChange={({ target }) => setText(target.value)} />
            </label>
            <button type="submit" className="button button-filled" aria-describedby={id}>
              Set
            </button>
          </form>
          <p id={id} className="quiet">
            A label of that name gets the new text; one that is removed is gone at once. Lists of projects can be
            narrowed by labels.
          </p>
          <Outcome run={run} />
          <div className="dialog-foot">
            <button type="button" className="button" onClick={close}>
              Close
            </button>
          </div>
        </>
      )}
    </Dialog>
  );
}
