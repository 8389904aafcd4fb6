import type { ConversationEntry } from '@suzumio/sdk/client';
import { useState } from 'react';
import { Markdown } from '../../../../parts/markdown.js';
import { oneLine, visible } from '../../../../parts/visible.js';
import { cachedPart, count, dollars, some } from '../../../../parts/numbers.js';
import { Row, spanOf } from './row.js';

/** The longest text of an answer that is shown at once. */
const mostSaid = 3_000;

/** Why its model was asked again after an answer. */
const askedAgain: Record<NonNullable<NonNullable<ConversationEntry['answer']>['reading']>, string> = {
  cut: ', cut at its longest: asked again',
  'call-as-text': ', a call as text: asked again',
  blank: ', blank: asked again',
  oversized: ', its files could not be saved: asked again',
  notes: '',
};

/** What its model answered. */
export function Answer({ entry, named }: { entry: ConversationEntry; named: number | undefined }) {
  const { text, thoughts, calls, moreCalls, code, answer, cutChars, seq } = entry;
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
            <code translate="no">{code}</code> <bdi>{oneLine(text, 400)}</bdi>
          </span>
        ) : answer === null ? undefined : (
          <span className="quiet">
            <bdi>{visible(answer.model ?? answer.preset)}</bdi>, {count(answer.inputTokens)} tokens in
            {cachedPart(answer)},{count(answer.outputTokens)} out
            {askedAgain[answer.reading ?? 'notes']}
            {answer.costUsd > 0 ? `, ${dollars(answer.costUsd)}` : ''}
            {answer.finishReason !== null && !['stop', 'tool_calls'].includes(answer.finishReason)
              ? `, ended by ${oneLine(answer.finishReason, 40)}`
              : ''}
          </span>
        )
      }
      below={
        code !== null || (!said && thoughts === '') ? null : (
          <div className={named === seq ? 'step-said step-named' : 'step-said'}>
            {thoughts === '' ? null : (
              <details className="note">
                <summary>Its thoughts</summary>
                <Markdown text={thoughts} />
              </details>
            )}
            {said ? <Markdown text={shown} /> : null}
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
