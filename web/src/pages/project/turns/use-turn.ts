import type { ConversationEntry, TurnDetail } from '@suzumio/sdk/client';
import { useQueries, useQuery } from '@tanstack/react-query';
import { api, keys } from '../../../api.js';

const keyOf = (project: string, turn: string) => [...keys.project(project), 'turn', turn] as const;

/** A turn by its id, or by `agent:number`, without its calls: they are read in parts. */
export function useTurn(project: string, turn: string) {
  return useQuery({
    queryKey: keyOf(project, turn),
    queryFn: () => api.getTurn({ project, turn, query: { without: 'calls' } }),
  });
}

export const hasEnded = ({ status }: Pick<TurnDetail, 'status'>) => status !== 'queued' && status !== 'running';

/** What of a turn that has ended was read stays so: it is read once. */
const readOnce = (turn: TurnDetail) => ({
  enabled: ({ state }: { state: { data: unknown } }) => state.data === undefined || !hasEnded(turn),
});

/** The mail that a turn was given and has sent: the first of it. */
export function useTurnMail(project: string, turn: TurnDetail) {
  return useQuery({
    queryKey: [...keyOf(project, turn.id), 'mail'],
    queryFn: async () => (await api.listMessages({ project, query: { turn: turn.id, after: 0, limit: 100 } })).items,
  });
}

/** What a turn has changed in its files, as a diff; of one that has ended. */
export function useTurnDiff(project: string, turn: TurnDetail) {
  return useQuery({
    queryKey: [...keyOf(project, turn.id), 'diff', turn.endedAt],
    queryFn: () => api.getTurnDiff({ project, turn: turn.id }),
    enabled: ({ state }) => hasEnded(turn) && state.data === undefined,
  });
}

/** What an attempt's container printed. */
export function useTurnLog(project: string, turn: TurnDetail, attempt: number) {
  return useQuery({
    queryKey: [...keyOf(project, turn.id), 'log', attempt],
    queryFn: () => api.getTurnLog({ project, turn: turn.id, query: { attempt } }),
  });
}

/** The conversation is read in parts of so many entries, and so many parts are on the page. */
export const partEntries = 50;
const shownParts = 3;

/** Which entries of a conversation are shown. */
export interface Steps {
  entries: ConversationEntry[];
  /** How many there are. */
  total: number;
  /** The places of the first and of the last part on the page, from 0, and of the last that there is. */
  first: number;
  end: number;
  last: number;
  error: unknown;
  isRead: boolean;
  again: () => void;
}

/**
 * A turn's conversation, in parts.
 *
 * @param end the last part that is shown; undefined for the newest
 */
export function useSteps(project: string, turn: TurnDetail, end: number | undefined): Steps {
  const base = [...keyOf(project, turn.id), 'steps'];
  const newest = useQuery({
    queryKey: [...base, 'newest'],
    queryFn: async () => {
      const { items } = await api.getTurnConversation({ project, turn: turn.id, query: { order: 'desc', limit: 1 } });
      return items[0]?.seq ?? 0;
    },
    ...readOnce(turn),
  });
  const total = newest.data ?? 0;
  const last = Math.max(Math.ceil(total / partEntries) - 1, 0);
  const shownEnd = Math.min(end ?? last, last);
  const first = Math.max(shownEnd - shownParts + 1, 0);
  const parts = useQueries({
    queries: Array.from({ length: total === 0 ? 0 : shownEnd - first + 1 }, (_, index) => ({
      queryKey: [...base, first + index],
      queryFn: () => readPart(project, turn.id, first + index),
      ...readOnce(turn),
    })),
  });
  return {
    entries: parts.flatMap(({ data }) => data ?? []),
    total,
    first,
    end: shownEnd,
    last,
    error: newest.error ?? parts.find(({ error }) => error)?.error ?? null,
    isRead: newest.data !== undefined && parts.every(({ data }) => data !== undefined),
    again: () => {
      for (const query of [newest, ...parts]) query.refetch().catch(() => undefined);
    },
  };
}

/** A part whole: the server ends one early where its texts are long. */
async function readPart(project: string, turn: string, part: number): Promise<ConversationEntry[]> {
  const before = (part + 1) * partEntries + 1;
  const entries: ConversationEntry[] = [];
  let after = part * partEntries;
  while (entries.length < partEntries) {
    const { items, next } = await api.getTurnConversation({
      project,
      turn,
      query: { after, before, limit: partEntries - entries.length },
    });
    entries.push(...items);
    if (items.length === 0 || next === undefined) break;
    after = next;
  }
  return entries;
}
