import type { TurnDetail } from '@suzumio/contract/model/turn';
import { oneLine, visibleLines } from '@suzumio/core/prompt/body';
import type { UnpublishedArtifacts } from '@suzumio/protocol/attempts';
import type { CliContext } from '../cli-context.js';
import { changedFiles, cost, dayAndTime, duration, readings, tokensIn } from './format.js';
import { table } from './table.js';

/** Everything about one turn: what it was asked, what it did, how it ended. */
export function renderTurn(turn: TurnDetail, context: Pick<CliContext, 'out' | 'timeZone'>): string[] {
  const facts: [string, string][] = [
    ['turn', `${turn.agent}:${turn.number}  (${turn.id})`],
    ['status', turn.status + (turn.endedByTool === null ? '' : `, ended with ${turn.endedByTool}`)],
    ['queued', `${dayAndTime(turn.queuedAt, context)}, ${turn.priority}`],
    ...(turn.failure === null
      ? []
      : [['failure', `${turn.failure.code}: ${oneLine(turn.failure.message)}`] as [string, string]]),
    ...(turn.files === null ? [] : [['files', `changed: ${changedFiles(turn.files)}`] as [string, string]]),
    ...filesBeside(turn),
    ['read', turn.reads.length === 0 ? 'no mail' : turn.reads.join(', ')],
  ];
  const attempts = turn.attempts.map((attempt) => [
    String(attempt.number),
    attempt.status,
    dayAndTime(attempt.startedAt, context),
    attempt.endedAt === null ? '' : duration(Date.parse(attempt.endedAt) - Date.parse(attempt.startedAt)),
    // An engine's own id follows its kind.
    attempt.engine.split(':')[0] ?? '',
    attempt.stats?.container?.slice(0, 12) ?? '',
    attempt.failure === null ? '' : `${attempt.failure.code}: ${oneLine(attempt.failure.message)}`,
  ]);
  const calls = turn.calls.map((call) => [
    call.step,
    call.tool,
    call.errorCode ?? call.status,
    oneLine(JSON.stringify(call.input)),
  ]);
  const asked = turn.modelCalls.map((call) => [
    call.purpose === 'summary' ? `${call.step} (summary)` : call.step,
    oneLine(call.preset),
    oneLine(call.model ?? ''),
    call.errorCode ?? (call.reading === null || call.reading === 'notes' ? call.status : readings[call.reading]),
    `${tokensIn(call)}${call.estimated ? ' (estimated)' : ''}`,
    String(call.outputTokens),
    cost(call.costUsd),
    call.endedAt === null ? '' : duration(Date.parse(call.endedAt) - Date.parse(call.startedAt)),
  ]);
  return [
    ...facts.map(([name, value]) => `${name.padEnd(9)}${value}`),
    ...section(
      'attempts',
      attempts,
      ['NUMBER', 'STATUS', 'STARTED', 'TOOK', 'ENGINE', 'CONTAINER', 'FAILURE'],
      context,
    ),
    ...section(
      'model calls',
      asked,
      ['STEP', 'PRESET', 'MODEL', 'OUTCOME', 'TOKENS IN', 'TOKENS OUT', 'COST', 'TOOK'],
      context,
    ),
    ...section('tool calls', calls, ['STEP', 'TOOL', 'OUTCOME', 'INPUT'], context),
    ...passage('text', turn.text),
    ...passage('prompt', turn.prompt),
  ];
}

function section(title: string, rows: string[][], headings: string[], { out }: Pick<CliContext, 'out'>): string[] {
  return rows.length === 0 ? [] : ['', title, ...table(headings, rows, out)];
}

function passage(title: string, text: string | null): string[] {
  return text === null || text === ''
    ? []
    : ['', title, ...visibleLines(text.trimEnd()).map((line) => `  ${line}`.trimEnd())];
}

/** What its last attempt has left of files that no snapshot holds. */
function filesBeside({ attempts }: TurnDetail): [string, string][] {
  const { ignoredFiles, leftOut, unsaved, unpublished } = attempts.at(-1)?.stats ?? {};
  const more = leftOut && leftOut.count > leftOut.names.length ? ', …' : '';
  return [
    ...(ignoredFiles === undefined ? [] : [['ignored', `${ignoredFiles} files`] as [string, string]]),
    ...(leftOut
      ? [['left out', `${leftOut.count}: ${leftOut.names.map(oneLine).join(', ')}${more}`] as [string, string]]
      : []),
    ...(unpublished ? [['withheld', unpublishedText(unpublished)] as [string, string]] : []),
    ...(unsaved ? [['unsaved', `${unsaved.code}: ${oneLine(unsaved.message)}`] as [string, string]] : []),
  ];
}

function unpublishedText({ count, items }: UnpublishedArtifacts): string {
  const named = items.map(({ name, why }) => `${oneLine(name)} (${oneLine(why)})`).join(', ');
  return `${count}: ${named}${count > items.length ? ', …' : ''}`;
}
