import { turnNoticesOff, turnNoticesOn, useNotices } from '../../notices.js';

const says = {
  on: 'Your browser tells you what is new here while this page is open in a tab and you look elsewhere.',
  off: 'Your browser can tell you what is new here while you look elsewhere.',
  refused: 'Your browser shows no notifications of this page: allow them in its settings for this address.',
  none: 'This browser shows no notifications of pages.',
} as const;

/** Whether the browser notifies of new items, and what turns that on and off. */
export function NoticesLine() {
  const notices = useNotices();
  return (
    <p className="keys-line notices-line">
      <span role="status">{says[notices]}</span>
      {notices === 'off' ? (
        <button type="button" className="button" onClick={() => void turnNoticesOn()}>
          Notify me
        </button>
      ) : null}
      {notices === 'on' ? (
        <button type="button" className="button" onClick={turnNoticesOff}>
          Turn notifications off
        </button>
      ) : null}
    </p>
  );
}
