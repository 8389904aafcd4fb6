import type { Agent, ConversationEntry, Message, TurnDetail } from '@suzumio/sdk/client';
import { type ReactNode, useState } from 'react';
import { Cut } from '../../../../parts/cut.js';
import { some } from '../../../../parts/numbers.js';
import { Moment } from '../../../../parts/time.js';
import { called } from '../../../../parts/places.js';
import type { Steps } from '../use-turn.js';
import { Answer } from './answer.js';
import { Call } from './call.js';
import { Ends } from './ends.js';
import { Row } from './row.js';
import { oneLine } from '../../../../parts/visible.js';

/** What is known of the turn besides its steps. */
interface Known {
  turn: TurnDetail;
  agents: readonly Agent[];
  mail: readonly Message[];
  /** The place of the step that the address names. */
  named: number | undefined;
}

/** The kinds that a model is told before its prompt. */
const isBefore = ({ kind, step }: ConversationEntry) => step === null && kind !== 'prompt';

/** The entries as rows: what was told before is one, and a line stands where another attempt goes on. */
export function rowsOf({ entries, first }: Steps, known: Known): ReactNode[] {
  const rows: ReactNode[] = [];
  let attempt = first === 0 ? 1 : (entries.find((entry) => entry.attempt !== null)?.attempt ?? 1);
  let before: ConversationEntry[] = [];
  const close = () => {
    const [one] = before;
    if (one) rows.push(<Before key={one.seq} entries={before} />);
    before = [];
  };
  for (const entry of entries) {
    if (isBefore(entry)) {
      before.push(entry);
      continue;
    }
    close();
    if (entry.attempt !== null && entry.attempt > attempt) {
      rows.push(<Ends key={`ends ${attempt}`} turn={known.turn} from={attempt} to={entry.attempt} />);
      attempt = entry.attempt;
    }
    rows.push(<Step key={entry.seq} entry={entry} known={known} />);
  }
  close();
  return rows;
}

function Before({ entries }: { entries: readonly ConversationEntry[] }) {
  const [isOpen, setOpen] = useState(false);
  const earlier = entries.filter(({ kind }) => kind === 'earlier').length;
  const words = [
    entries.some(({ kind }) => kind === 'instructions') ? 'its instructions' : '',
    entries.some(({ kind }) => kind === 'memory') ? 'notes on earlier turns' : '',
    earlier > 0 ? some(earlier, 'message of earlier turns', 'messages of earlier turns') : '',
  ].filter((word) => word !== '');
  return (
    <Row mark="done" title="Was told" isOpen={isOpen} onOpen={setOpen} line={words.join(', ')}>
      {entries.map((entry) => (
        <section key={entry.seq} className="step-told">
          <h3 className="quiet">{entry.kind === 'earlier' ? `earlier turn, ${entry.role}` : entry.kind}</h3>
          <Cut text={entry.text} isCut={entry.cutChars > 0} />
        </section>
      ))}
    </Row>
  );
}

function Step({ entry, known }: { entry: ConversationEntry; known: Known }) {
  if (entry.kind === 'prompt') return <Read entry={entry} known={known} />;
  return entry.kind === 'result' ? (
    <Call entry={entry} named={known.named} />
  ) : (
    <Answer entry={entry} named={known.named} />
  );
}

/** The mail that woke it. */
function Read({ entry, known: { turn, mail, agents } }: { entry: ConversationEntry; known: Known }) {
  const read = mail.filter(({ id }) => turn.reads.includes(id));
  return (
    <Row
      mark="done"
      title={`Read ${some(turn.reads.length, 'message')}`}
      time={turn.startedAt === null ? null : <Moment at={turn.startedAt} seconds />}
      seq={entry.seq}
      line={read.slice(0, 5).map(({ id, sender, body }) => (
        <span key={id} className="step-mail">
          <bdi>{called(sender, agents)}</bdi>: <bdi>“{oneLine(body)}”</bdi>
        </span>
      ))}
    />
  );
}
