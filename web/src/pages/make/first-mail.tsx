import { useId } from 'react';
import { visible } from '../../parts/visible.js';
import type { Filed } from './would-be.js';

/** What the new project begins with, and to whom it goes. */
export function FirstMail({
  agents,
  recipient,
  mail,
  write,
}: {
  agents: Filed['agents'];
  recipient: string;
  mail: string;
  write: (part: { recipient?: string; mail?: string }) => void;
}) {
  const id = useId();
  return (
    <section aria-label="The first mail">
      <h2>The first mail</h2>
      <div className="make-fields">
        <label htmlFor={`${id}-to`}>To</label>
        <select
          id={`${id}-to`}
          className="input"
          value={recipient}
          onChange={({ target }) => write({ recipient: target.value })}
        >
          {agents.length === 0 ? <option value="">the agents of the file</option> : null}
          {agents.map(({ id, displayName }) => (
            <option key={id} value={id}>
              {visible(displayName === null ? id : `${displayName} (${id})`)}
            </option>
          ))}
        </select>
        <label htmlFor={`${id}-mail`}>What it says</label>
        <textarea
          id={`${id}-mail`}
          className="input make-mail"
          rows={4}
          value={mail}
          onChange={({ target }) => write({ mail: target.value })}
        />
      </div>
    </section>
  );
}
