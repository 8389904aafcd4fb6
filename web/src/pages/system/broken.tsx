import { Copyable } from '../../parts/copy.js';
import { Mark } from '../../parts/mark.js';
import type { SystemState } from '../../use-system.js';

/** What the server finds broken, with what mends each. */
export function Broken({ system: { findings } }: { system: SystemState }) {
  const broken = findings.filter(({ state }) => state === 'broken');
  if (broken.length === 0) return null;
  return (
    <section aria-label="What is broken">
      <h2>What is broken</h2>
      <ul className="services">
        {broken.map(({ what, detail, remedy, next }) => (
          <li key={`${what} ${detail}`} className="service">
            <Mark kind="failed" />
            <b>{what}</b>
            <span className="service-found">{detail}</span>
            <span className="service-detail">
              {remedy} {next === null ? null : <Copyable text={`suzumio ${next}`} />}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
