import { useState } from 'react';
import { Icon } from './icon.js';

/** A command, an id or a link, with a button that copies it. */
export function Copyable({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <span className="copyable">
      <code>{text}</code>
      {'clipboard' in navigator ? (
        <button type="button" className="icon-button" onClick={() => void copy()} aria-label={`Copy ${text}`}>
          {copied ? <span className="quiet">copied</span> : <Icon name="copy" />}
        </button>
      ) : null}
    </span>
  );
}
