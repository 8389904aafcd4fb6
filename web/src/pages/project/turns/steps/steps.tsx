import type { Agent, TurnDetail } from '@suzumio/sdk/client';
import { type ReactNode, useState } from 'react';
import { useLiveTurn } from '../../../../live/use-live-turn.js';
import { Failure } from '../../../../parts/failure.js';
import { count } from '../../../../parts/numbers.js';
import { useFollow } from '../use-follow.js';
import { hasEnded, partEntries, useSteps, useTurnMail } from '../use-turn.js';
import { rowsOf } from './entries.js';
import { LiveSteps } from './live.js';
import { Tail } from './tail.js';

interface Props {
  project: string;
  turn: TurnDetail;
  agents: readonly Agent[];
  /** The place of the step that the address names. */
  named: number | undefined;
}

/** What a turn has done, step by step, the newest at the end. */
export function Steps({ project, turn, agents, named }: Props) {
  const ended = hasEnded(turn);
  // One that has ended is read from its beginning, one that runs from its end.
  const [end, setEnd] = useState<number | undefined>(() =>
    named === undefined ? (ended ? 2 : undefined) : Math.max(Math.floor((named - 1) / partEntries) + 1, 2),
  );
  const steps = useSteps(project, turn, end);
  const mail = useTurnMail(project, turn);
  const live = useLiveTurn(project, turn.id, turn.status === 'running');
  const {
    end: place,
    isFollowing,
    follow,
  } = useFollow(
    !ended && named === undefined,
    `${steps.total} ${steps.entries.at(-1)?.status} ${turn.modelCalls.length} ${live.size}`,
  );
  if (steps.error && steps.entries.length === 0) return <Failure error={steps.error} again={steps.again} />;
  if (!steps.isRead && steps.entries.length === 0) return null;
  const isNewest = steps.end === steps.last;
  return (
    <div className="turn-steps-list">
      {steps.first > 0 ? (
        <Further onClick={() => setEnd(Math.max(steps.end - 2, 2))}>
          Earlier steps ({count(steps.first * partEntries)})
        </Further>
      ) : null}
      {steps.total === 0 ? <p className="empty-line">{emptyWords(turn)}</p> : null}
      <ol className="steps">{rowsOf(steps, { turn, agents, mail: mail.data ?? [], named })}</ol>
      {isNewest ? <Tail turn={turn} steps={steps} project={project} /> : null}
      {isNewest ? <LiveSteps live={live} entries={steps.entries} /> : null}
      {isNewest ? null : (
        <Further
          onClick={() =>
            setEnd(steps.end + 2 >= steps.last && !ended ? undefined : Math.min(steps.end + 2, steps.last))
          }
        >
          Later steps ({count(steps.total - (steps.end + 1) * partEntries)})
        </Further>
      )}
      {ended ? null : (
        <p className="follow">
          {isFollowing ? (
            <span className="quiet">Following</span>
          ) : (
            <button
              type="button"
              className="button follow-button"
              onClick={() => {
                setEnd(undefined);
                follow();
              }}
            >
              Follow
            </button>
          )}
        </p>
      )}
      <div ref={place} />
    </div>
  );
}

function emptyWords(turn: TurnDetail): string {
  if (hasEnded(turn)) return 'It has taken no step.';
  return turn.status === 'queued' ? 'It has not begun.' : 'It has just begun.';
}

function Further({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <p className="steps-further">
      <button type="button" className="button" onClick={onClick}>
        {children}
      </button>
    </p>
  );
}
