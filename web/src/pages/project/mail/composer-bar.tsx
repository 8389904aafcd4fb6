import { Key } from '../../../acts/keys.js';
import { Icon } from '../../../parts/icon.js';
import { visible } from '../../../parts/visible.js';
import { AttachButton } from './attach-button.js';
import type { Letter } from './deliver.js';
import type { Recipient, recipientsOf } from './recipients.js';

/** How soon mail is read, before or after other mail. */
const priorities = [
  ['P0', 'urgent'],
  ['P1', 'usual'],
  ['P2', 'later'],
  ['P3', 'whenever'],
] as const;

/** For whom a letter is, how soon it is read, and what sends it. */
export function ComposerBar({
  groups,
  to,
  priority: chosen,
  isFree,
  effect,
  write,
  onFiles,
}: {
  groups: ReturnType<typeof recipientsOf>;
  to: Recipient;
  priority: Letter['priority'];
  /** Whether nothing is on its way. */
  isFree: boolean;
  /** The id of what says what sending it does. */
  effect: string;
  write: (news: Partial<Letter>) => void;
  onFiles: (files: readonly File[]) => void;
}) {
  const isListed = groups.some(([, recipients]) => recipients.some(({ id }) => id === to.id));
  return (
    <div className="composer-bar">
      <select
        className="choice"
        aria-label="To"
        value={to.id}
        disabled={!isFree}
        onChange={(event) => write({ to: event.currentTarget.value })}
      >
        {groups.map(([label, recipients]) => (
          <optgroup key={label} label={label}>
            {recipients.map(({ id, label: words }) => (
              <option key={id} value={id}>
                To {visible(words)}
              </option>
            ))}
          </optgroup>
        ))}
        {isListed ? null : <option value={to.id}>To {visible(to.label)}</option>}
      </select>
      <select
        className="choice"
        aria-label="Priority"
        value={chosen}
        disabled={!isFree}
        onChange={(event) => write({ priority: priorityOf(event.currentTarget.value) })}
      >
        {priorities.map(([priority, word]) => (
          <option key={priority} value={priority}>
            {priority} {word}
          </option>
        ))}
      </select>
      <AttachButton className="button composer-clip" aria-label="Attach files" disabled={!isFree} onFiles={onFiles}>
        <Icon name="clip" />
      </AttachButton>
      <button type="submit" className="button composer-send" aria-disabled={!isFree} aria-describedby={effect}>
        {isFree ? 'Send' : 'Sending …'} <Key name="send" />
      </button>
    </div>
  );
}

function priorityOf(text: string): Letter['priority'] {
  return priorities.find(([priority]) => priority === text)?.[0] ?? 'P1';
}
