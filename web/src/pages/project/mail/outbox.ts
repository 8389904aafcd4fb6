import type { Message } from '@suzumio/sdk/client';
import { useSyncExternalStore } from 'react';

/** A message on its way: it is shown at once, where the server's will stand. */
export interface Going {
  readonly key: string;
  /** The draft that it is. */
  readonly place: string;
  readonly project: string;
  /** The thread that it will be in; undefined where it begins one. */
  readonly thread: string | undefined;
  /** The newest message that was shown when it was sent. */
  readonly after: number;
  readonly to: string;
  readonly priority: Message['priority'];
  readonly body: string;
  readonly files: readonly { readonly key: string; readonly name: string; readonly size: number }[];
  /** How many bytes of each file have gone, by its key. */
  readonly uploaded: Readonly<Record<string, number>>;
  /** What keeps it, while it is tried again. */
  readonly waits?: string | undefined;
  /** Why it does not go any more; it is a draft again. */
  readonly refused?: string;
  /** Once the server has it. */
  readonly id?: string;
}

let all: readonly Going[] = [];
const listeners = new Set<() => void>();

/** What is on its way, and what was refused. */
export function useGoing(): readonly Going[] {
  return useSyncExternalStore(listen, () => all);
}

function listen(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

/** A message goes. What was refused of the same draft is over. */
export function begin(message: Going): void {
  set([...all.filter(({ place, refused }) => place !== message.place || refused === undefined), message]);
}

/** How it goes on. */
export function note(key: string, news: Partial<Going>): void {
  set(all.map((one) => (one.key === key ? { ...one, ...news } : one)));
}

/** It is shown by what the server says, or is a draft again. */
export function drop(key: string): void {
  set(all.filter((one) => one.key !== key));
}

function set(next: readonly Going[]): void {
  all = next;
  for (const changed of listeners) changed();
}

/** Those of a project, or of a thread of it, that are not among the messages that are shown. */
export function notShown(
  going: readonly Going[],
  { project, thread }: { project: string; thread?: string },
  shown: readonly Message[],
): Going[] {
  return going.filter(
    (one) =>
      one.project === project &&
      one.refused === undefined &&
      (thread === undefined || one.thread === thread) &&
      !shown.some(({ id, seq, sender, body }) =>
        one.id === undefined ? seq > one.after && sender === 'user' && body === one.body : id === one.id,
      ),
  );
}
