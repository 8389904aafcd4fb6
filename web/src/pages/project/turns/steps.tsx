import type { Agent, ConversationEntry, Message, TurnDetail } from '@suzumio/sdk/client';
import { type ReactNode, useState } from 'react';
import { Copyable } from '../../../parts/copy.js';
import { Cut, oneLine } from '../../../parts/cut.js';
import { Failure } from '../../../parts/failure.js';
import { Mark, type MarkKind } from '../../../parts/mark.js';
import { Markdown, visible } from '../../../parts/markdown.js';
import { count, dollars, some } from '../../../parts/numbers.js';
import { Moment, span, useNow } from '../../../parts/time.js';
import { called } from '../places.js';
import { useFollow } from './use-follow.js';
import { hasEnded, partEntries, type Steps as StepsOf, useSteps, useTurnMail } from './use-turn.js';

interface Props {
  project: string;
  turn: TurnDetail;
  agents: readonly Agent[];
  /** The place of the step that the address names. */
  named: number | undefined;
}

/** What a turn has done, step by step, the newest at the end. */
export function Steps({ project, turn, agents, named }: Props) {
  const ended = hasEnded(turn);
  // One that has ended is read from its beginning, one that runs from its end.
  const [end, setEnd] = useState<number | undefined>(() =>
    named === undefined ? (ended ? 2 : undefined) : Math.max(Math.floor((named - 1) / partEntries) + 1, 2),
  );
  const steps = useSteps(project, turn, end);
  const mail = useTurnMail(project, turn);
  const {
    end: place,
    isFollowing,
    follow,
  } = useFollow(
    !ended && named === undefined,
    `${steps.total} ${steps.entries.at(-1)?.status} ${turn.modelCalls.length}`,
  );
  if (steps.error && steps.entries.length === 0) return <Failure error={steps.error} again={steps.again} />;
  if (!steps.isRead && steps.entries.length === 0) return null;
  const isNewest = steps.end === steps.last;
  return (
    <div className="turn-steps-list">
      {steps.first > 0 ? (
        <Further onClick={() => setEnd(Math.max(steps.end - 2, 2))}>
          Earlier steps ({count(steps.first * partEntries)})
        </Further>
      ) : null}
      {steps.total === 0 ? <p className="empty-line">{emptyWords(turn)}</p> : null}
      <ol className="steps">{rowsOf(steps, { turn, agents, mail: mail.data ?? [], named, project })}</ol>
      {isNewest ? <Tail turn={turn} steps={steps} project={project} /> : null}
      {isNewest ? null : (
        <Further
          onClick={() =>
            setEnd(steps.end + 2 >= steps.last && !ended ? undefined : Math.min(steps.end + 2, steps.last))
          }
        >
          Later steps ({count(steps.total - (steps.end + 1) * partEntries)})
        </Further>
      )}
      {ended ? null : (
        <p className="follow">
          {isFollowing ? (
            <span className="quiet">Following</span>
          ) : (
            <button
              type="button"
              className="button follow-button"
              onClick={() => {
                setEnd(undefined);
                follow();
              }}
            >
              Follow
            </button>
          )}
        </p>
      )}
      <div ref={place} />
    </div>
  );
}

function emptyWords(turn: TurnDetail): string {
  if (hasEnded(turn)) return 'It has taken no step.';
  return turn.status === 'queued' ? 'It has not begun.' : 'It has just begun.';
}

function Further({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <p className="steps-further">
      <button type="button" className="button" onClick={onClick}>
        {children}
      </button>
    </p>
  );
}

interface Known extends Props {
  mail: readonly Message[];
}

/** The kinds that a model is told before its prompt. */
const isBefore = ({ kind, step }: ConversationEntry) => step === null && kind !== 'prompt';

/** The entries as rows: what was told before is one, and a line stands where another attempt goes on. */
function rowsOf({ entries, first }: StepsOf, known: Known): ReactNode[] {
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

/** Where attempts ended, and another one went on. */
function Ends({ turn, from, to }: { turn: TurnDetail; from: number; to: number }) {
  const ended = turn.attempts.filter(({ number }) => number >= from && number < to);
  const one = ended.at(-1);
  const which = ended.length > 1 ? `attempts ${from} to ${to - 1} ended, the last because` : `attempt ${to - 1} ended:`;
  return (
    <li className="step-ends">
      <span>
        {which} <bdi>{oneLine(one?.failure?.message ?? one?.status ?? 'it is not on record', 200)}</bdi>{' '}
        <span className="nowrap">Attempt {to} went on from here.</span>
      </span>
    </li>
  );
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

function Row({ mark, title, detail, time, line, seq, isOpen = false, onOpen, children, below }: RowProps) {
  const head = (
    <>
      <span className="step-title">
        <b>
          <bdi>{visible(title)}</bdi>
        </b>{' '}
        {detail === undefined || detail === '' ? null : (
          <code>
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

function Step({ entry, known }: { entry: ConversationEntry; known: Known }) {
  if (entry.kind === 'prompt') return <Read entry={entry} known={known} />;
  return entry.kind === 'result' ? <Call entry={entry} known={known} /> : <Answer entry={entry} known={known} />;
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

/** The longest text of an answer that is shown at once. */
const mostSaid = 3_000;

function Answer({ entry, known: { named } }: { entry: ConversationEntry; known: Known }) {
  const { text, calls, moreCalls, code, answer, cutChars, seq } = entry;
  const [all, setAll] = useState(false);
  const asked = calls.length + moreCalls;
  const said = text.trim() !== '';
  const title =
    code !== null
      ? 'Asked its model, in vain'
      : entry.kind === 'memory'
        ? 'Summed up earlier turns'
        : said
          ? asked > 0
            ? 'Thought and answered'
            : 'Answered'
          : asked > 0
            ? `Asked for ${some(asked, 'call')}`
            : 'Answered nothing';
  const shown = all ? text : text.slice(0, mostSaid);
  return (
    <Row
      mark={code === null ? 'done' : 'failed'}
      title={title}
      seq={seq}
      time={spanOf(entry)}
      line={
        code !== null ? (
          <span className="step-code">
            <code>{code}</code> <bdi>{oneLine(text, 400)}</bdi>
          </span>
        ) : answer === null ? undefined : (
          <span className="quiet">
            <bdi>{visible(answer.model ?? answer.preset)}</bdi>, {count(answer.inputTokens)} tokens in,{' '}
            {count(answer.outputTokens)} out
            {answer.costUsd > 0 ? `, ${dollars(answer.costUsd)}` : ''}
            {answer.finishReason !== null && !['stop', 'tool_calls'].includes(answer.finishReason)
              ? `, ended by ${oneLine(answer.finishReason, 40)}`
              : ''}
          </span>
        )
      }
      below={
        code !== null || !said ? null : (
          <div className={named === seq ? 'step-said step-named' : 'step-said'}>
            <Markdown text={shown} />
            {shown.length < text.length ? (
              <button type="button" className="link-button" onClick={() => setAll(true)}>
                Show all of it
              </button>
            ) : null}
            {cutChars > 0 ? <p className="quiet">{count(cutChars)} more characters are not shown.</p> : null}
          </div>
        )
      }
    />
  );
}

function Call({ entry, known: { named } }: { entry: ConversationEntry; known: Known }) {
  const { tool, text, cutChars, code, status, seq, input } = entry;
  const [isOpen, setOpen] = useState(named === seq || status === 'running');
  const given = parsed(input);
  const isCommand = commands.has(tool ?? '');
  const mark: MarkKind =
    status === 'running' ? 'running' : code !== null ? 'failed' : status === null ? 'quiet' : 'done';
  return (
    <Row
      mark={mark}
      title={tool ?? 'a call'}
      detail={detailOf(given, input)}
      seq={seq}
      time={status === 'running' && entry.startedAt !== null ? <Since at={entry.startedAt} /> : spanOf(entry)}
      isOpen={isOpen}
      onOpen={setOpen}
      line={
        code !== null ? (
          <span className="step-code">
            <code>{code}</code> <bdi>{oneLine(reasonIn(text, code), 400)}</bdi>
          </span>
        ) : (
          <bdi>{oneLine(text)}</bdi>
        )
      }
    >
      {isCommand ? (
        <div className="terminal">
          <p className="terminal-command">$ {visible(commandIn(given).slice(0, 4_000))}</p>
          {text === '' ? null : <Cut text={text} isCut={cutChars > 0} />}
        </div>
      ) : (
        <>
          <h3 className="quiet">Input</h3>
          <Cut text={input === null ? '' : given === undefined ? input : JSON.stringify(given, null, 2)} />
          <h3 className="quiet">Result</h3>
          <Cut text={text} isCut={cutChars > 0} />
        </>
      )}
    </Row>
  );
}

/** A refusal as its model reads it begins with its code, which stands beside it here. */
function reasonIn(text: string, code: string): string {
  const told = `Error ${code}: `;
  return text.startsWith(told) ? text.slice(told.length) : text;
}

const commands = new Set(['shell.exec', 'script.run']);

const commandIn = (given: unknown): string => {
  const command = (given as { command?: unknown } | undefined)?.command;
  return typeof command === 'string' ? command : JSON.stringify(given ?? null);
};

function parsed(input: string | null): unknown {
  if (input === null) return undefined;
  try {
    return JSON.parse(input);
  } catch {
    return undefined;
  }
}

/** What says the most of a call's input, in this order. */
const telling = ['command', 'path', 'name', 'pattern', 'query', 'recipient', 'channel', 'message'];

function detailOf(given: unknown, input: string | null): string {
  if (typeof given !== 'object' || given === null) return oneLine(input ?? '', 80);
  const fields = given as Record<string, unknown>;
  const name = telling.find((one) => typeof fields[one] === 'string');
  const first = name ?? Object.keys(fields).find((one) => typeof fields[one] === 'string');
  return first === undefined ? '' : oneLine(String(fields[first]), 80);
}

function spanOf({ startedAt, endedAt }: ConversationEntry): string {
  return startedAt === null || endedAt === null ? '' : span(Date.parse(endedAt) - Date.parse(startedAt));
}

function Since({ at }: { at: string }) {
  return span(Math.max(0, useNow(1_000) - Date.parse(at)));
}

/** What goes on now, or how it ended. */
function Tail({ turn, steps, project }: { turn: TurnDetail; steps: StepsOf; project: string }) {
  const seen = Math.max(1, ...steps.entries.map(({ attempt }) => attempt ?? 1));
  const asking = turn.modelCalls.findLast(({ status }) => status === 'running');
  const isSaid = turn.modelCalls.length > 0 || turn.text === null || turn.text.trim() === '';
  return (
    <ol className="steps steps-end">
      {turn.attempt > seen ? <Ends turn={turn} from={seen} to={turn.attempt} /> : null}
      {turn.status === 'running' && asking ? (
        <Row
          mark="running"
          title="Asks its model"
          detail={oneLine(asking.preset, 40)}
          time={<Since at={asking.startedAt} />}
        />
      ) : null}
      {turn.status === 'queued' ? (
        <Row
          mark="queued"
          title={turn.attempt === 0 ? 'Waits for a slot' : 'Waits for its next attempt'}
          time={turn.notBefore === null ? null : <Moment at={turn.notBefore} seconds />}
          line={turn.failure === null ? undefined : <bdi>{oneLine(turn.failure.message, 400)}</bdi>}
        />
      ) : null}
      {turn.status === 'completed' ? (
        <Row
          mark="done"
          title={turn.endedByTool === null ? 'Ended' : `Ended with ${turn.endedByTool}`}
          time={turn.endedAt === null ? null : <Moment at={turn.endedAt} seconds />}
          below={
            isSaid ? null : (
              <div className="step-said">
                <Markdown text={turn.text?.slice(0, 20_000) ?? ''} />
              </div>
            )
          }
        />
      ) : null}
      {turn.status === 'cancelled' ? (
        <Row
          mark="stopped"
          title="Was cancelled"
          time={turn.endedAt === null ? null : <Moment at={turn.endedAt} seconds />}
        />
      ) : null}
      {turn.status === 'failed' && turn.failure ? (
        <Row
          mark="failed"
          title="Failed"
          detail={turn.failure.code}
          time={turn.endedAt === null ? null : <Moment at={turn.endedAt} seconds />}
          below={
            <>
              <p className="step-failure">
                <bdi>{visible(turn.failure.message)}</bdi>
              </p>
              <p className="step-next">
                <span className="quiet">What can be done:</span>{' '}
                <Copyable text={`suzumio why ${project} ${turn.agent}`} />
              </p>
            </>
          }
        />
      ) : null}
    </ol>
  );
}
