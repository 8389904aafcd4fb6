import type { TurnDetail } from '@suzumio/sdk/client';
import { Link } from 'wouter';
import { Failure } from '../../../parts/failure.js';
import { UnifiedDiff } from '../../../parts/unified-diff.js';
import { workspacePath } from '../../../parts/places.js';
import { hasEnded, useTurnDiff } from './use-turn.js';

/** The files that a turn has changed, as a diff. */
export function Changes({ project, turn }: { project: string; turn: TurnDetail }) {
  const text = useTurnDiff(project, turn);
  if (!hasEnded(turn)) return <p className="empty-line">What it changes in its files stands here once it has ended.</p>;
  if (text.data === undefined) {
    return text.error ? <Failure error={text.error} again={() => void text.refetch()} /> : null;
  }
  return (
    <>
      <UnifiedDiff text={text.data} none="It has changed no files." />
      <p className="changes-files">
        <Link href={workspacePath(project, turn.agent, { turn: turn.number })} className="turns-link">
          All files as this turn left them
        </Link>
      </p>
    </>
  );
}
