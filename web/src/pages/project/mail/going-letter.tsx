import { useEffect, useRef } from 'react';
import { Icon } from '../../../parts/icon.js';
import { Mark } from '../../../parts/mark.js';
import { Markdown } from '../../../parts/markdown.js';
import { bytes } from '../../../parts/numbers.js';
import { Priority } from './letter.js';
import type { Going } from './outbox.js';

/** A message of the person that is on its way. */
export function GoingLetter({ message: { to, priority, body, files, waits } }: { message: Going }) {
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    place.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <article className="letter letter-going" ref={place}>
      <header className="letter-head">
        <b>You</b>{' '}
        <span className="quiet">
          to <bdi>{to}</bdi>
        </span>
        <Priority of={priority} />
      </header>
      <Markdown text={body} />
      {files.length === 0 ? null : (
        <ul className="attachments">
          {files.map(({ key, name, size }) => (
            <li key={key} className="attachment">
              <Icon name="file" /> <bdi className="clip">{name}</bdi> <span className="quiet">{bytes(size)}</span>
            </li>
          ))}
        </ul>
      )}
      <p className="receipt">
        <Mark kind="queued" /> {waits === undefined ? 'is sent' : 'not sent yet, is tried again'}
      </p>
    </article>
  );
}
