import type { TurnDetail } from '@suzumio/sdk/client';
import { oneLine } from '../../../../parts/visible.js';

/** Where attempts ended, and another one went on. */
export function Ends({ turn, from, to }: { turn: TurnDetail; from: number; to: number }) {
  const ended = turn.attempts.filter(({ number }) => number >= from && number < to);
  const one = ended.at(-1);
  const which = ended.length > 1 ? `attempts ${from} to ${to - 1} ended, the last because` : `attempt ${to - 1} ended:`;
  return (
    <li className="step-ends">
      <span>
        {which} <bdi>{oneLine(one?.failure?.message ?? one?.status ?? 'it is not on record', 200)}</bdi>{' '}
        <span className="nowrap">Attempt {to} went on from here.</span>
      </span>
    </li>
  );
}
