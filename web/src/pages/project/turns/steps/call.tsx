import type { ConversationEntry } from '@suzumio/sdk/client';
import { useState } from 'react';
import { useParams } from 'wouter';
import { Cut } from '../../../../parts/cut.js';
import type { MarkKind } from '../../../../parts/mark-kind.js';
import { oneLine, visible } from '../../../../parts/visible.js';
import { Row, Since, spanOf } from './row.js';

/** What it did, with input and result. */
export function Call({ entry, named }: { entry: ConversationEntry; named: number | undefined }) {
  const { tool, text, cutChars, code, status, seq, input } = entry;
  const { project, turn } = useParams<{ project: string; turn: string }>();
  const whole = `suzumio --json tool-calls ${project} --turn ${turn}`;
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
            <code translate="no">{code}</code> <bdi>{oneLine(reasonIn(text, code), 400)}</bdi>
          </span>
        ) : (
          <bdi>{oneLine(text)}</bdi>
        )
      }
    >
      {isCommand ? (
        <div className="terminal">
          <p className="terminal-command">$ {visible(commandIn(given).slice(0, 4_000))}</p>
          {text === '' ? null : <Cut text={text} isCut={cutChars > 0} whole={whole} />}
        </div>
      ) : (
        <>
          <h3 className="quiet">Input</h3>
          <Cut
            text={input === null ? '' : given === undefined ? input : JSON.stringify(given, null, 2)}
            isCut={input !== null && given === undefined}
            whole={whole}
          />
          <h3 className="quiet">Result</h3>
          <Cut text={text} isCut={cutChars > 0} whole={whole} />
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
