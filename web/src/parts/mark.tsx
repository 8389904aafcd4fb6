import type { ReactElement } from 'react';
import type { MarkKind } from './mark-kind.js';

const shapes: Readonly<Record<MarkKind, ReactElement>> = {
  quiet: <circle cx="8" cy="8" r="5.25" className="outline" />,
  queued: <circle cx="8" cy="8" r="5.25" className="outline" strokeDasharray="2.1 2" />,
  running: (
    <>
      <circle cx="8" cy="8" r="5.75" className="outline" />
      <circle cx="8" cy="8" r="3.1" className="filled" />
    </>
  ),
  asks: <path d="M8 1.5 14.5 8 8 14.5 1.5 8Z" className="filled" />,
  report: (
    <>
      <path d="M3.5 1.5h6L13 5v9.5H3.5Z" className="filled" />
      <path d="M6 7.5h4.5M6 10.5h4.5" className="inside" />
    </>
  ),
  failed: (
    <>
      <rect x="2" y="2" width="12" height="12" rx="2" className="outline" />
      <path d="m5.6 5.6 4.8 4.8m0-4.8-4.8 4.8" className="outline" />
    </>
  ),
  paused: <path d="M4.75 3h2v10h-2zM9.25 3h2v10h-2z" className="filled" />,
  stopped: <rect x="3" y="3" width="10" height="10" rx="1" className="outline" />,
  done: <path d="m2.5 8.5 3.6 3.6L13.5 4" className="outline" />,
  budget: (
    <>
      <circle cx="8" cy="8" r="6" className="outline" />
      <path d="M8 8V2a6 6 0 1 1-6 6Z" className="filled" />
    </>
  ),
  message: <path d="M2 3.5h12v9H2Zm0 .5 6 4.5L14 4" className="outline" />,
};

/** A state: shape and colour. The word stands beside it, or is given as `title`. */
export function Mark({ kind, title }: { kind: MarkKind; title?: string }) {
  return (
    <svg className={`mark mark-${kind}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden={title === undefined}>
      {title === undefined ? null : <title>{title}</title>}
      {shapes[kind]}
    </svg>
  );
}
