import type { Project } from '@suzumio/sdk/client';
import { useId, useState } from 'react';
import { useLocation } from 'wouter';
import { keys, queries } from '../../api.js';
import { some } from '../../parts/numbers.js';
import { ActDialog } from './act-dialog.js';
import { closeDialog } from './dialogs.js';
import { asked, useRun } from './use-run.js';

/** Deletes a project, once its name was typed. */
export function DeleteDialog({ project }: { project: Project }) {
  const { id, turns, messages, artifacts } = project;
  const ids = useId();
  const [, navigate] = useLocation();
  const run = useRun(id);
  const [typed, setTyped] = useState('');
  const [isWrong, setWrong] = useState(false);
  const closed = () => {
    closeDialog();
    if (!run.isDone) return;
    navigate('/projects');
    queries.removeQueries({ queryKey: keys.project(id) });
  };
  return (
    <ActDialog
      title={
        <>
          Delete <bdi translate="no">{id}</bdi>?
        </>
      }
      onClosed={closed}
      run={run}
      ask={() => {
        setWrong(typed !== id);
        if (typed === id) run.ask(asked('deleteProject', { project: id }), '');
      }}
      done={() => (
        <p role="status">
          <bdi translate="no">{id}</bdi> is no more. Its name is free for another project.
        </p>
      )}
      next="All projects"
      stay="Keep it"
      does="Delete for good"
      doing="Deleting…"
      will={`${ids}-will`}
    >
      <p id={`${ids}-will`}>
        {turns.active > 0 ? `${some(turns.active, 'turn')} that run or wait are ended at once. ` : ''}
        Its database with {some(turns.total, 'turn')} and {some(messages, 'message')}, {some(artifacts, 'file')},
        workspaces and logs are removed. It cannot be had back.
      </p>
      <label className="dialog-field">
        <span>
          Type its name, <b>{id}</b>, to delete it
        </span>
        <input
          className="input"
          value={typed}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          aria-invalid={isWrong}
          aria-describedby={`${ids}-wrong`}
          onChange={({ target }) => {
            setTyped(target.value);
            setWrong(false);
          }}
        />
      </label>
      <p id={`${ids}-wrong`} role="alert" className="dialog-wrong">
        {isWrong ? `That is not its name: nothing was done.` : ''}
      </p>
    </ActDialog>
  );
}
