import { isDeepStrictEqual } from 'node:util';
import { eventTable } from '@suzumio/contract/model/event';
import type { AppendedEvent } from '@suzumio/store/projects/project-store';

/** What is wrong with an event that was emitted; undefined where the table of events says the same. */
export function contradiction({ type, data }: Pick<AppendedEvent, 'type' | 'data'>): string | undefined {
  const { success, data: known, error } = eventTable[type].data.safeParse(data);
  if (!success) return `${type}: ${error.message}`;
  // A field that the table lacks would have been dropped.
  return isDeepStrictEqual(known, data)
    ? undefined
    : `${type} has fields that its table lacks: ${JSON.stringify(data)}`;
}
