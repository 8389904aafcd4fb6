import type { Agent, Message, TurnDetail } from '@suzumio/sdk/client';
import { useState } from 'react';
import { Cut } from '../../../parts/cut.js';
import { Failure } from '../../../parts/failure.js';
import { Mark } from '../../../parts/mark.js';
import { Markdown } from '../../../parts/markdown.js';
import { visible } from '../../../parts/visible.js';
import { cachedPart, count, dollars, some, span } from '../../../parts/numbers.js';
import { stateOfAttempt } from '../../../parts/states.js';
import { Moment } from '../../../parts/time.js';
import { called } from '../../../parts/places.js';
import { useTurnLog, useTurnMail } from './use-turn.js';

/** What a turn's model was asked, as it was sent. */
export function Prompt({ turn }: { turn: TurnDetail }) {
  if (turn.prompt === null) return <p className="empty-line">It has no prompt yet: it is made when the turn begins.</p>;
  return (
    <div className="pane-inside">
      <Cut text={turn.prompt} />
    </div>
  );
}

interface MailProps {
  project: string;
  turn: TurnDetail;
  agents: readonly Agent[];
}

/** The mail that a turn was given, and what it has sent. */
export function TurnMail({ project, turn, agents }: MailProps) {
  const mail = useTurnMail(project, turn);
  if (mail.error && !mail.data) return <Failure error={mail.error} again={() => void mail.refetch()} />;
  if (!mail.data) return null;
  const given = mail.data.filter(({ id }) => turn.reads.includes(id));
  const sent = mail.data.filter((message) => message.turn === turn.id);
  return (
    <div className="pane-inside">
      <Letters title="Read" letters={given} agents={agents} />
      <Letters title="Sent" letters={sent} agents={agents} />
      {mail.data.length >= 100 ? <p className="quiet">The first hundred messages.</p> : null}
    </div>
  );
}

function Letters({ title, letters, agents }: { title: string; letters: readonly Message[]; agents: readonly Agent[] }) {
  return (
    <section className="turn-mail" aria-label={title}>
      <h2>
        {title} <span className="pane-note">{letters.length}</span>
      </h2>
      {letters.length === 0 ? <p className="quiet">No message.</p> : null}
      <ol>
        {letters.map(({ id, sender, recipient, channel, priority, createdAt, body }) => (
          <li key={id} className="turn-letter">
            <header className="letter-head">
              <b>
                <bdi>{called(sender, agents)}</bdi>
              </b>{' '}
              <span className="quiet">
                to <bdi>{channel ?? called(recipient ?? '', agents)}</bdi>
              </span>
              {priority === 'P0' ? <span className="priority">P0</span> : null}
              <span className="letter-time">
                <Moment at={createdAt} />
              </span>
            </header>
            <Markdown text={body} />
          </li>
        ))}
      </ol>
    </section>
  );
}

const mostAttempts = 50;

/** A turn's attempts, and why each ended. */
export function Attempts({ turn }: { turn: TurnDetail }) {
  if (turn.attempts.length === 0) return <p className="empty-line">It has had no attempt yet.</p>;
  const shown = turn.attempts.slice(-mostAttempts).toReversed();
  return (
    <div className="pane-inside">
      <ol className="attempts">
        {shown.map((attempt) => {
          const { mark, word } = stateOfAttempt(attempt.status);
          const took = attempt.endedAt === null ? null : Date.parse(attempt.endedAt) - Date.parse(attempt.startedAt);
          return (
            <li key={attempt.number} className="attempt">
              <Mark kind={mark} title={word} />
              <div>
                <p>
                  <b>Attempt {attempt.number}</b> {word}
                  {took === null ? '' : ` after ${span(took)}`}
                  {attempt.counted === false ? <span className="quiet">, does not count</span> : null}
                </p>
                <p className="quiet">
                  <Moment at={attempt.startedAt} seconds /> at worker <bdi>{visible(attempt.worker)}</bdi>, engine{' '}
                  {attempt.engine.split(':')[0]}
                </p>
                {attempt.failure === null ? null : (
                  <p>
                    <code translate="no">{attempt.failure.code}</code> <bdi>{visible(attempt.failure.message)}</bdi>
                  </p>
                )}
              </div>
            </li>
          );
        })}
      </ol>
      {turn.attempts.length > mostAttempts ? (
        <p className="quiet">and {count(turn.attempts.length - mostAttempts)} before them</p>
      ) : null}
    </div>
  );
}

const mostCalls = 100;

/** What a turn's model was asked and has answered, in tokens and dollars. */
export function Usage({ turn }: { turn: TurnDetail }) {
  const { modelCalls, usage } = turn;
  if (modelCalls.length === 0) {
    const said = usage === null ? '' : ` Its runner says: ${JSON.stringify(usage).slice(0, 1_000)}`;
    return (
      <p className="empty-line">No model was asked: a script stands for it, or its runner asks one itself.{said}</p>
    );
  }
  const shown = modelCalls.slice(-mostCalls).toReversed();
  return (
    <div className="pane-inside">
      <p className="quiet">
        {some(modelCalls.length, 'call')}, the newest first
        {modelCalls.length > mostCalls ? `: the last ${mostCalls}` : ''}. A step's answer is paid for once, whatever the
        number of attempts.
      </p>
      <div className="table-scroll" tabIndex={0} role="group" aria-label="Calls of models">
        <table className="table usage-table">
          <thead>
            <tr>
              <th scope="col">Step</th>
              <th scope="col">Model</th>
              <th scope="col">Outcome</th>
              <th scope="col" className="number">
                In
              </th>
              <th scope="col" className="number">
                Out
              </th>
              <th scope="col" className="number">
                Cost
              </th>
              <th scope="col" className="number">
                Took
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((call) => (
              <tr key={call.id}>
                <td>{call.step}</td>
                <td>
                  <bdi>{visible(call.model ?? call.preset)}</bdi>
                  {call.purpose === 'summary' ? <span className="quiet"> (summary)</span> : null}
                </td>
                <td>{call.errorCode ?? call.status}</td>
                <td className="number">
                  {count(call.inputTokens)}
                  {call.estimated ? '≈' : ''}
                  {cachedPart(call)}
                </td>
                <td className="number">{count(call.outputTokens)}</td>
                <td className="number">{dollars(call.costUsd)}</td>
                <td className="number">
                  {call.endedAt === null ? '' : span(Date.parse(call.endedAt) - Date.parse(call.startedAt))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** What the container of an attempt printed: its end. */
export function Log({ project, turn }: { project: string; turn: TurnDetail }) {
  const [attempt, setAttempt] = useState(turn.attempt);
  const log = useTurnLog(project, turn, attempt);
  if (turn.attempt === 0) return <p className="empty-line">It has had no attempt yet.</p>;
  return (
    <div className="pane-inside">
      {turn.attempts.length > 1 ? (
        <label className="turn-log-which">
          Attempt{' '}
          <select className="input" value={attempt} onChange={({ target }) => setAttempt(Number(target.value))}>
            {turn.attempts.slice(-mostAttempts).map(({ number }) => (
              <option key={number}>{number}</option>
            ))}
          </select>
        </label>
      ) : null}
      {log.error && log.data === undefined ? <Failure error={log.error} again={() => void log.refetch()} /> : null}
      {log.data === '' ? (
        <p className="quiet">
          {turn.status === 'running' && attempt === turn.attempt
            ? 'The log is kept when the attempt ends.'
            : 'It has printed nothing.'}
        </p>
      ) : null}
      {log.data === undefined || log.data === '' ? null : (
        <div className="terminal">
          <Cut text={log.data} end key={attempt} />
        </div>
      )}
    </div>
  );
}
