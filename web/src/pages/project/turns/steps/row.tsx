import type { ConversationEntry } from '@suzumio/sdk/client';
import type { ReactNode } from 'react';
import { Mark } from '../../../../parts/mark.js';
import type { MarkKind } from '../../../../parts/mark-kind.js';
import { visible } from '../../../../parts/visible.js';
import { useNow } from '../../../../parts/time.js';
import { span } from '../../../../parts/numbers.js';

interface RowProps {
  mark: MarkKind;
  title: string;
  detail?: string | undefined;
  time?: ReactNode;
  line?: ReactNode;
  seq?: number | undefined;
  isOpen?: boolean;
  onOpen?: (isOpen: boolean) => void;
  /** What is shown when it is open. */
  children?: ReactNode;
  /** What is shown in any case. */
  below?: ReactNode;
}

/** A line of the list, which may open. */
export function Row({ mark, title, detail, time, line, seq, isOpen = false, onOpen, children, below }: RowProps) {
  const head = (
    <>
      <span className="step-title">
        <b>
          <bdi>{visible(title)}</bdi>
        </b>{' '}
        {detail === undefined || detail === '' ? null : (
          <code translate="no">
            <bdi>{detail}</bdi>
          </code>
        )}
      </span>
      <span className="step-time">{time}</span>
      {line === undefined || line === '' ? null : <span className="step-line">{line}</span>}
    </>
  );
  return (
    <li className="step" id={seq === undefined ? undefined : `step-${seq}`}>
      <span className="step-mark">
        <Mark kind={mark} title={words[mark] ?? mark} />
      </span>
      <div className="step-body">
        {onOpen ? (
          <details open={isOpen} onToggle={(event) => onOpen(event.currentTarget.open)}>
            <summary className="step-head">{head}</summary>
            {isOpen ? <div className="step-inside">{children}</div> : null}
          </details>
        ) : (
          <div className="step-head">{head}</div>
        )}
        {below}
      </div>
    </li>
  );
}

const words: Partial<Record<MarkKind, string>> = {
  done: 'done',
  running: 'running',
  failed: 'not done',
  quiet: 'open',
};

/** How long it took; nothing where that is not known. */
export function spanOf({ startedAt, endedAt }: ConversationEntry): string {
  return startedAt === null || endedAt === null ? '' : span(Date.parse(endedAt) - Date.parse(startedAt));
}

/** How long it has taken up to now. */
export function Since({ at }: { at: string }) {
  return span(Math.max(0, useNow(1_000) - Date.parse(at)));
}
