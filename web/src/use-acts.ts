import type { QueryKey } from '@tanstack/react-query';
import type { Act } from '@suzumio/sdk/client';
import { api } from './api.js';
import { useGrowing } from './parts/use-growing.js';

const partActs = 100;

/** What people did, the newest first; of one project, or of one of them. */
export function useActs(queryKey: QueryKey, { project, actor }: { project?: string; actor?: string | undefined }) {
  return useGrowing<PlacedAct, string>(queryKey, async (place) => {
    const query = {
      limit: partActs,
      ...place,
      ...(project === undefined ? {} : { project }),
      ...(actor === undefined ? {} : { actor }),
    };
    const { items, ...further } = await api.listActs({ query });
    return { ...further, items: placed(items) };
  });
}

/** An act in a list. */
export interface PlacedAct extends Act {
  id: string;
  seq: number;
}

/** Acts of one moment that are alike have nothing but their order that tells them apart. */
function placed(acts: readonly Act[]): PlacedAct[] {
  const alike = new Map<string, number>();
  const oldestFirst = acts.toReversed().map((act) => {
    const words = JSON.stringify(act);
    const number = (alike.get(words) ?? 0) + 1;
    alike.set(words, number);
    return { ...act, id: `${words} ${number}`, seq: Date.parse(act.at) };
  });
  return oldestFirst.reverse();
}
