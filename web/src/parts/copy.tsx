import { useState } from 'react';
import { Icon } from './icon.js';

/**
 * A command, an id or a link, with a button that copies it.
 *
 * @param name what it is, where it is too long to be read out
 */
export function Copyable({ text, name = text }: { text: string; name?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <span className="copyable">
      <code translate="no">{text}</code>
      {'clipboard' in navigator ? (
        <button type="button" className="icon-button" onClick={() => void copy()} aria-label={`Copy ${name}`}>
          {copied ? <span className="quiet">copied</span> : <Icon name="copy" />}
        </button>
      ) : null}
    </span>
  );
}
