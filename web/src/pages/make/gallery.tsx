import type { Example } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { api, publicPath } from '../../api.js';
import { Failure } from '../../parts/failure.js';
import { some } from '../../parts/numbers.js';

/** How many examples are offered at once. */
const mostOffered = 3;

/** The examples: those that run here first, the others with what keeps them. */
export function Gallery({ isOpen, onChoose }: { isOpen: boolean; onChoose: (example: Example) => void }) {
  const examples = useQuery({ queryKey: ['examples'], queryFn: () => api.listExamples(), staleTime: 30_000 });
  if (examples.error && examples.data === undefined) {
    return isOpen ? <Failure error={examples.error} again={() => void examples.refetch()} /> : null;
  }
  const items = examples.data?.items ?? [];
  if (items.length === 0) return null;
  const offered = items.filter(({ obstacles }) => obstacles.length === 0).slice(0, mostOffered);
  const others = items.filter((one) => !offered.includes(one));
  const cards = (
    <>
      {offered.length === 0 ? <p className="quiet">None of the examples can run on this server.</p> : null}
      <ul className="make-cards">
        {offered.map((one) => (
          <li key={one.id}>
            <button type="button" className="make-card" onClick={() => onChoose(one)}>
              <b>{one.title}</b>
              <span>{one.description}</span>
              <span className="quiet">{some(one.agents, 'agent')}</span>
            </button>
          </li>
        ))}
      </ul>
      {others.length === 0 ? null : (
        <details className="make-others">
          <summary>{some(others.length, 'other example')}</summary>
          <ul>
            {others.map((one) => (
              <li key={one.id}>
                <button type="button" className="button" onClick={() => onChoose(one)}>
                  {one.title}
                </button>{' '}
                <span className="quiet">
                  {one.description}
                  {one.obstacles.length === 0 ? null : (
                    <>
                      {' '}
                      <b>Does not run here:</b> <bdi>{one.obstacles.join('; ')}</bdi>
                    </>
                  )}
                </span>
              </li>
            ))}
          </ul>
          {others.every(({ obstacles }) => obstacles.length === 0) ? null : (
            <p className="quiet">
              What runs here is up to <a href={`${publicPath}/docs/policy`}>the policy of this server</a>. The file of
              each can be taken and changed.
            </p>
          )}
        </details>
      )}
    </>
  );
  return isOpen ? (
    <section className="make-gallery" aria-label="Examples">
      <h2>Begin with an example that runs here</h2>
      {cards}
    </section>
  ) : (
    <details className="make-gallery" aria-label="Examples">
      <summary>Begin with an example instead</summary>
      {cards}
    </details>
  );
}
