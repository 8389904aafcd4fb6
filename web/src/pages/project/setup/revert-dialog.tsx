import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { useLocation } from 'wouter';
import { ActDialog } from '../../../acts/run/act-dialog.js';
import { closeDialog } from '../../../acts/run/dialogs.js';
import { asked, useRun } from '../../../acts/run/use-run.js';
import { api } from '../../../api.js';
import { Copyable } from '../../../parts/copy.js';
import { Failure } from '../../../parts/failure.js';
import { Changes } from './changes.js';
import { useVersions } from './use-versions.js';

/** Puts an earlier version in force again, as a new one, after what that changes. */
export function RevertDialog({ project, version }: { project: string; version: number }) {
  const id = useId();
  const run = useRun(project);
  const [, navigate] = useLocation();
  const newest = useVersions(project).data?.pages[0]?.items[0]?.version;
  const difference = useQuery({
    // Another version that comes meanwhile makes it another difference.
    queryKey: ['config-revert', project, version, newest],
    queryFn: () => api.diffConfig({ project, body: { revert: version } }),
    placeholderData: (last) => last,
    gcTime: 0,
    enabled: newest !== undefined && !run.isDone,
  });
  const { data } = difference;
  const isRefused = data?.changes.some(({ effect }) => effect === 'refused') ?? false;
  const isReady = data !== undefined && data.changes.length > 0 && !isRefused && !difference.isPlaceholderData;
  return (
    <ActDialog
      className="dialog-wide"
      title={run.isDone ? `Version ${version} is back` : `Bring version ${version} back?`}
      onClosed={() => {
        closeDialog();
        // What is in force is the newest, and no longer the version that was looked at.
        if (run.isDone) navigate(`/p/${project}/setup`);
      }}
      run={run}
      ask={() => {
        if (data) run.ask(asked('applyConfig', { project, body: { revert: version, baseVersion: data.version } }), '');
      }}
      done={() => <p role="status">Version {(run.answer as { version: number }).version} is in force.</p>}
      stay="Leave it"
      does={
        data === undefined || data.changes.length === 0 || isRefused
          ? undefined
          : `Apply as version ${data.version + 1}`
      }
      doing="Applying…"
      will={`${id}-will`}
      isReady={isReady}
    >
      {difference.error ? (
        <Failure error={difference.error} again={() => void difference.refetch()} />
      ) : data === undefined ? (
        <p className="quiet">Looking for what differs…</p>
      ) : data.changes.length === 0 ? (
        <p>Version {data.version}, which is in force, says the same.</p>
      ) : (
        <>
          <p id={`${id}-will`}>
            {isRefused
              ? 'A living project cannot take all of it back:'
              : `It is put in force again as version ${data.version + 1}. Version ${data.version} is kept, and can be brought back, too.`}
          </p>
          <Changes label="What changes" changes={data.changes} isWanted />
        </>
      )}
      <p>
        <Copyable text={`suzumio config revert ${project} ${version}`} />
      </p>
    </ActDialog>
  );
}
