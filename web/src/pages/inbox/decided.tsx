import { Link } from 'wouter';
import { Failure } from '../../parts/failure.js';
import { Mark } from '../../parts/mark.js';
import { Ago } from '../../parts/time.js';
import { useDecided } from '../../use-inbox.js';
import { visible } from '../../parts/visible.js';
import { decidedMarks, decisionIn, placeOfDecision } from './words.js';

/** What was settled: who decided what, and when. */
export function Decided() {
  const decided = useDecided();
  const items = decided.data?.pages.flatMap((page) => page.items) ?? [];
  if (decided.error && decided.data === undefined) {
    return <Failure error={decided.error} again={() => void decided.refetch()} />;
  }
  if (items.length === 0 && !decided.hasNextPage) return null;
  return (
    <section aria-label="Decided">
      <h2 className="inbox-group">Decided</h2>
      <ol>
        {items.map((item) => (
          <li key={item.id}>
            <Link href={placeOfDecision(item)} className="inbox-row inbox-decided">
              <Mark kind={decidedMarks[item.kind]} />
              <span className="inbox-words">
                <span className="clip">
                  <bdi>{visible(decisionIn(item))}</bdi>
                </span>
                <span className="inbox-text">
                  <bdi translate="no">{item.project}</bdi>, by <bdi>{item.by}</bdi>
                </span>
              </span>
              <span className="inbox-age">
                <Ago at={item.at} />
              </span>
            </Link>
          </li>
        ))}
      </ol>
      {decided.hasNextPage ? (
        <p className="inbox-more">
          {items.length === 0 ? 'Nothing was decided lately. ' : ''}
          <button
            type="button"
            className="button"
            disabled={decided.isFetchingNextPage}
            onClick={() => void decided.fetchNextPage()}
          >
            Earlier
          </button>
        </p>
      ) : null}
    </section>
  );
}
