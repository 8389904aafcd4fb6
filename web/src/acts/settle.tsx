import type { Client, InboxItem } from '@suzumio/sdk/client';
import { useId } from 'react';
import { api, keys, wordsOf } from '../api.js';
import type { KeyName } from './key-table.js';
import { Key, useKeys } from './keys.js';
import { type ActOptions, useAct } from './use-act.js';
import { useMayIn } from './use-may-make.js';

type Item = Extract<InboxItem, { kind: 'failure' | 'pause' }>;
type Request = InboxItem['request'];

/**
 * What settles an item by one request, which needs nothing more from the person.
 *
 * @param request that of the item, or what helps where the item alone does not say it
 */
export default function Settle({ item, request }: { item: Item; request: Request }) {
  const may = useMayIn(item.project);
  const way = wayOf(item, request);
  const id = `settle-${useId()}`;
  const { project } = item;
  const act = useAct(
    ({ operation, params }: { operation: Operation; params: unknown }, options) =>
      (api[operation] as (input: unknown, options: ActOptions) => Promise<unknown>)(params, options),
    [
      ...(project === null ? keys.eachProject : [keys.project(project), keys.why(project)]),
      ...[keys.inbox, keys.projects, keys.decided],
    ],
  );
  const isDone = act.isPending || act.isSuccess;
  const isAllowed = way !== undefined && request !== null && may(way.operation);
  const settle = () => {
    if (isAllowed && !isDone) act.mutate({ operation: way.operation, params: request.params });
  };
  useKeys(isAllowed && way.key !== undefined ? { [way.key]: settle } : {});
  if (!isAllowed) return null;
  return (
    <div className="decide">
      {act.error ? (
        <p className="later-failed" role="alert">
          <b>Not done.</b> {wordsOf(act.error)}
        </p>
      ) : null}
      <div className="decide-acts">
        <button
          type="button"
          className="button button-filled"
          onClick={settle}
          aria-describedby={id}
          aria-disabled={isDone}
        >
          {way.verb} {way.key === undefined ? null : <Key name={way.key} />}
        </button>
        <p id={id} className="decide-says" role="status">
          {act.isSuccess ? 'It is done.' : way.says}
        </p>
      </div>
    </div>
  );
}

type Operation = Extract<keyof Client, 'retryAgent' | 'resetAgent' | 'resumeAgent' | 'resumeProject' | 'resumeCell'>;

interface Way {
  operation: Operation;
  verb: string;
  /** What it will do. */
  says: string;
  key?: KeyName;
}

/** Nothing where a person has to say more, or where no request settles it. */
function wayOf(item: Item, request: Request): Way | undefined {
  const operation = request?.asks.length === 0 ? request.operation : undefined;
  if (item.kind === 'failure') {
    const { agent, turnNumber } = item;
    if (operation === 'retryAgent') {
      const says = `Turn ${turnNumber} of ${agent} goes on from where it stood.`;
      return { operation, verb: 'Retry', says, key: 'retry' };
    }
    if (operation === 'resetAgent') {
      const says = `Turn ${turnNumber} is given up, and a new turn of ${agent} reads its mail.`;
      return { operation, verb: 'Begin again', says, key: 'retry' };
    }
    return undefined;
  }
  if (operation === 'resumeAgent') return { operation, verb: 'Resume', says: `${item.agent ?? ''} gets turns again.` };
  if (operation === 'resumeProject')
    return { operation, verb: 'Resume', says: `${item.project ?? ''} gets turns again.` };
  if (operation === 'resumeCell') return { operation, verb: 'Resume', says: 'Every project gets turns again.' };
  return undefined;
}
