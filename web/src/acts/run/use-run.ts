import { type Client, type ProjectDetail, SuzumioError } from '@suzumio/sdk/client';
import type { QueryKey } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api, keys, queries } from '../../api.js';
import { useAct } from '../use-act.js';

/** An operation and its input, as plain data. */
export interface Asked {
  readonly operation: keyof Client;
  readonly params: object;
}

type Input<Id extends keyof Client> = NonNullable<Parameters<Client[Id]>[0]>;

export function asked<Id extends keyof Client>(operation: Id, params: Input<Id>): Asked {
  return { operation, params };
}

type Asking = (params: object, options: { idempotencyKey?: string }) => Promise<unknown>;

/** Asked again they change nothing, so that they take no key. */
const withoutKey: ReadonlySet<keyof Client> = new Set<keyof Client>(['standUpTeam']);

/** How long it is said what was done. */
const saidMs = 10_000;

/** Acts that share a place in which it is said what became of them. */
export interface Run {
  /**
   * Does it, one at a time.
   *
   * @param did what is said once it is done
   * @param shown shows it as done at once, and returns what takes that back
   * @param onDone what follows once it is done
   */
  ask: (request: Asked, did: string, shown?: () => () => void, onDone?: () => void) => void;
  /** Asks for the last once more; undefined where that can lead nowhere. */
  again: (() => void) | undefined;
  isPending: boolean;
  isDone: boolean;
  said: string;
  error: Error | null;
  answer: unknown;
}

/** @param of a project, of which all that is shown is read again; or the keys of that; without them, all projects and the system */
export function useRun(of?: string | readonly QueryKey[]): Run {
  const act = useAct(
    ({ operation, params }: Asked, options) =>
      (api[operation] as unknown as Asking)(params, withoutKey.has(operation) ? {} : options),
    changesOf(of),
  );
  const [last, setLast] = useState<() => void>();
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (said === '') return undefined;
    const timer = setTimeout(() => setSaid(''), saidMs);
    return () => clearTimeout(timer);
  }, [said]);
  const ask: Run['ask'] = (request, did, shown, onDone) => {
    if (act.isPending) return;
    setLast(() => () => ask(request, did, shown, onDone));
    setSaid('');
    const takeBack = shown?.();
    act.mutateAsync(request).then(
      () => {
        setSaid(did);
        onDone?.();
      },
      () => takeBack?.(),
    );
  };
  const mayHelp = act.error instanceof SuzumioError && act.error.retryable && last !== undefined;
  return {
    ask,
    again: mayHelp ? last : undefined,
    isPending: act.isPending,
    isDone: act.isSuccess,
    said,
    error: act.error,
    answer: act.data,
  };
}

function changesOf(of: string | readonly QueryKey[] | undefined): readonly QueryKey[] {
  if (typeof of === 'object') return of;
  return of === undefined
    ? [...keys.eachProject, keys.system, keys.inbox, keys.projects]
    : [keys.project(of), keys.why(of), keys.inbox, keys.projects, keys.system];
}

/** Shows a project otherwise than it was read; what is returned takes that back. */
export function showProject(project: string, change: (detail: ProjectDetail) => ProjectDetail): () => void {
  const queryKey = [...keys.project(project), 'detail'];
  const before = queries.getQueryData<ProjectDetail>(queryKey);
  // What is being read now may be from before.
  queries.cancelQueries({ queryKey }).catch(() => undefined);
  const shown = queries.setQueryData<ProjectDetail>(queryKey, (detail) => detail && change(detail));
  return () => {
    // What was read since then is the truth.
    if (queries.getQueryData(queryKey) === shown) queries.setQueryData(queryKey, before);
  };
}
