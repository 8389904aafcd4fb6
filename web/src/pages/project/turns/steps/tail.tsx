import type { TurnDetail } from '@suzumio/sdk/client';
import { Link } from 'wouter';
import { Copyable } from '../../../../parts/copy.js';
import { Markdown } from '../../../../parts/markdown.js';
import { agentPath } from '../../../../parts/places.js';
import { oneLine, visible } from '../../../../parts/visible.js';
import { Moment } from '../../../../parts/time.js';
import type { Steps } from '../use-turn.js';
import { Ends } from './ends.js';
import { Row, Since } from './row.js';

/** What goes on now, or how it ended. */
export function Tail({ turn, steps, project }: { turn: TurnDetail; steps: Steps; project: string }) {
  const seen = Math.max(1, ...steps.entries.map(({ attempt }) => attempt ?? 1));
  const asking = turn.modelCalls.findLast(({ status }) => status === 'running');
  const title = turn.endedByTool === null ? 'Ended' : `Ended with ${turn.endedByTool}`;
  const isSaid = turn.modelCalls.length > 0 || ['', `${title}.`].includes(turn.text?.trim() ?? '');
  return (
    <ol className="steps steps-end">
      {turn.attempt > seen ? <Ends turn={turn} from={seen} to={turn.attempt} /> : null}
      {turn.status === 'running' && asking ? (
        <Row
          mark="running"
          title="Asks its model"
          detail={oneLine(asking.preset, 40)}
          time={<Since at={asking.startedAt} />}
        />
      ) : null}
      {turn.status === 'queued' ? (
        <Row
          mark="queued"
          title={turn.attempt === 0 ? 'Waits for a slot' : 'Waits for its next attempt'}
          time={turn.notBefore === null ? null : <Moment at={turn.notBefore} seconds />}
          line={turn.failure === null ? undefined : <bdi>{oneLine(turn.failure.message, 400)}</bdi>}
        />
      ) : null}
      {turn.status === 'completed' ? (
        <Row
          mark="done"
          title={title}
          time={turn.endedAt === null ? null : <Moment at={turn.endedAt} seconds />}
          below={
            isSaid ? null : (
              <div className="step-said">
                <Markdown text={turn.text ?? ''} />
              </div>
            )
          }
        />
      ) : null}
      {turn.status === 'cancelled' ? (
        <Row
          mark="stopped"
          title="Was cancelled"
          time={turn.endedAt === null ? null : <Moment at={turn.endedAt} seconds />}
        />
      ) : null}
      {turn.status === 'failed' && turn.failure ? (
        <Row
          mark="failed"
          title="Failed"
          detail={turn.failure.code}
          time={turn.endedAt === null ? null : <Moment at={turn.endedAt} seconds />}
          below={
            <>
              <p className="step-failure">
                <bdi>{visible(turn.failure.message)}</bdi>
              </p>
              <p className="step-next">
                <Link href={agentPath(project, turn.agent)} className="button">
                  What can be done
                </Link>{' '}
                <Copyable text={`suzumio why ${project} ${turn.agent}`} />
              </p>
            </>
          }
        />
      ) : null}
    </ol>
  );
}
