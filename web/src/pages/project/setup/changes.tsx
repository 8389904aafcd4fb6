import { count, some } from '../../../parts/numbers.js';
import { TwoValues } from '../../../parts/two-values.js';
import { visible } from '../../../parts/visible.js';
import type { Change } from './use-versions.js';

const mostShown = 200;

const effects = {
  refused: '✕ refused',
  'at-once': 'at once',
  'next-turn': 'from the next turn',
  'next-start': 'when a server is started with it',
} as const satisfies Record<Change['effect'], string>;
const order = Object.keys(effects) as Change['effect'][];

/**
 * Fields in which two versions of a file differ.
 *
 * @param isWanted whether they are not in force yet: then it is said when each counts, what is refused first
 */
export function Changes({
  label,
  changes,
  isWanted = false,
}: {
  label: string;
  changes: readonly Change[];
  isWanted?: boolean;
}) {
  const shown = isWanted ? changes.toSorted((one, other) => rank(one) - rank(other)) : changes;
  return (
    <div className="fields-changed">
      <p className="changes-count">
        {some(changes.length, 'change')}
        {isWanted ? `: ${counted(changes)}` : ''}
      </p>
      <ol className="changes-list" aria-label={label}>
        {shown.slice(0, mostShown).map((change) => (
          <li
            key={change.path}
            className={isWanted && change.effect === 'refused' ? 'change change-refused' : 'change'}
          >
            <p className="change-head">
              <code translate="no">
                <bdi>{visible(change.path)}</bdi>
              </code>
              {isWanted ? <span className={`effect effect-${change.effect}`}>{effects[change.effect]}</span> : null}
            </p>
            <TwoValues {...change} />
            {isWanted && change.effect !== 'next-turn' ? (
              <p className="change-reason">
                <bdi>{visible(change.reason)}</bdi>
              </p>
            ) : null}
          </li>
        ))}
      </ol>
      {changes.length > mostShown ? <p className="quiet">and {count(changes.length - mostShown)} more</p> : null}
    </div>
  );
}

function rank({ effect }: Change): number {
  return order.indexOf(effect);
}

function counted(changes: readonly Change[]): string {
  return order
    .map((effect) => [changes.filter((change) => change.effect === effect).length, effects[effect]] as const)
    .filter(([number]) => number > 0)
    .map(([number, words]) => `${count(number)} ${words.replace('✕ ', '')}`)
    .join(', ');
}
