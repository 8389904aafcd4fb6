import type { ConversationEntry } from '@suzumio/sdk/client';
import type { LivePiece, LiveTurn } from '../../../../live/use-live-turn.js';
import { visible } from '../../../../parts/visible.js';

/** What of a running turn is not recorded yet: what its model says, and what its commands print. */
export function LiveSteps({ live, entries }: { live: LiveTurn; entries: readonly ConversationEntry[] }) {
  const recorded = new Set(
    entries.flatMap(({ step, status }) => (step === null || status === 'running' ? [] : [step])),
  );
  const pieces = live.pieces.filter(({ step }) => !recorded.has(step));
  if (pieces.length === 0) {
    return live.lost === undefined ? null : (
      <p className="live-note">Live lines are not shown here. {visible(live.lost.slice(0, 400))}</p>
    );
  }
  return (
    <section className="live-steps" aria-label="Not yet recorded">
      {pieces.map((piece) => (
        <Piece key={piece.step} piece={piece} />
      ))}
      <p className="live-note">Not yet recorded</p>
    </section>
  );
}

function Piece({ piece: { kind, text, isCut } }: { piece: LivePiece }) {
  return (
    <pre
      translate="no"
      tabIndex={0}
      aria-label={kind === 'output' ? 'What it prints' : 'What its model says'}
      className={kind === 'output' ? 'terminal live-text' : 'live-text live-said'}
    >
      <bdi>
        {isCut ? '… ' : ''}
        {visible(text)}
      </bdi>
    </pre>
  );
}
