import type { QueryKey } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { Link } from 'wouter';
import { queries, wordsOf } from '../api.js';
import { Mark } from '../parts/mark.js';
import { Key, useKeys } from './keys.js';
import { type ActOptions, newKey } from './use-act.js';

/** For how long it can be taken back, and for how long the page says that it is done. */
const [graceMs, saidMs] = [4_000, 4_000];

/** Something that cannot be undone: it is sent after a while, so that it can be taken back until then. */
export interface Later {
  /** What it is about. Of the same thing one is under way at a time. */
  readonly about: string;
  /** What happens, as in “Approving newsroom’s report, version 2”, and what has happened then. */
  readonly doing: string;
  readonly done: string;
  /** The page on which it was asked for. */
  readonly place: string;
  /** How things stood when it was asked for. */
  readonly stands?: string;
  /** All that is sent, as plain data: the same once more, after a failure, takes effect once. */
  readonly input: unknown;
  readonly run: (options: ActOptions & { keepalive: true }) => Promise<unknown>;
  /** The keys of what it changes. */
  readonly changes: readonly QueryKey[];
  readonly onDone?: () => void;
}

export interface Postponed extends Later {
  readonly state: 'waiting' | 'sending' | 'done' | 'failed';
  /** Why it failed. */
  readonly error?: unknown;
  readonly idempotencyKey: string;
}

/** All of them; what was said of them last; and what is shown where it was asked for. */
let now = { all: [] as readonly Postponed[], said: '', inPlace: new Set<string>() as ReadonlySet<string> };
const timers = new Map<string, ReturnType<typeof setTimeout>>();
const listeners = new Set<() => void>();

/** Sends something after four seconds, unless it is taken back; at once where the page is left. */
export function postpone(later: Later): void {
  const before = found(later.about);
  if (before?.state === 'waiting' || before?.state === 'sending') return;
  const isAgain = JSON.stringify(before?.input) === JSON.stringify(later.input) && before?.state === 'failed';
  put({ ...later, state: 'waiting', idempotencyKey: isAgain ? before.idempotencyKey : newKey() });
  at(later.about, graceMs, () => send(later.about));
  say(`${later.doing}. Until it is sent you can take it back.`);
}

/** Takes back what was asked for last, or something about that. */
export function takeBack(about = now.all.findLast(({ state }) => state === 'waiting')?.about): void {
  if (about === undefined || found(about)?.state !== 'waiting') return;
  drop(about);
  say('Taken back: nothing was sent.');
}

/** Sends nothing of what waits: it was overtaken. */
export function overtake(about: string, why: string): void {
  const later = found(about);
  if (later?.state !== 'waiting') return;
  forget(about);
  put({ ...later, state: 'failed', error: new Error(why) });
}

/** What is under way, was done a moment ago or has failed about something, said where this is called. */
export function useLater(about: string): Postponed | undefined {
  useEffect(() => {
    change({ inPlace: new Set([...now.inPlace, about]) });
    return () => change({ inPlace: new Set([...now.inPlace].filter((one) => one !== about)) });
  }, [about]);
  return useSyncExternalStore(listen, () => found(about));
}

/** What is under way about things of other pages, with a button and the key Z that take it back. */
export function LaterBar() {
  const { all, said, inPlace } = useSyncExternalStore(listen, () => now);
  useKeys({ takeBack: all.some(({ state }) => state === 'waiting') ? () => takeBack() : undefined });
  const elsewhere = all.filter(({ about }) => !inPlace.has(about));
  return (
    <>
      <p className="visually-hidden" role="status">
        {said}
      </p>
      {elsewhere.length === 0 ? null : (
        <section className="later" aria-label="Under way">
          {elsewhere.map((later) => (
            <div key={later.about} className="later-card">
              <Progress later={later} />
              {later.state === 'failed' ? (
                <Link href={later.place} className="button">
                  Look
                </Link>
              ) : null}
              {later.state === 'failed' ? (
                <button type="button" className="button" onClick={() => drop(later.about)}>
                  Dismiss
                </button>
              ) : null}
            </div>
          ))}
        </section>
      )}
    </>
  );
}

/** One of them: what happens, and the button that takes it back; what went wrong, in the server's words. */
export function Progress({ later: { about, state, doing, done, error } }: { later: Postponed }) {
  if (state === 'failed') {
    return (
      <p className="later-failed" role="alert">
        <b>Not done.</b> {wordsOf(error)}
      </p>
    );
  }
  if (state === 'done') {
    return (
      <p className="later-words">
        <Mark kind="done" /> <bdi>{done}</bdi>
      </p>
    );
  }
  return (
    <>
      <p className="later-words">
        <Mark kind="running" />
        <span>
          <bdi>{doing}</bdi> …
        </span>
      </p>
      {state === 'waiting' ? (
        <button type="button" className="button later-back" onClick={() => takeBack(about)}>
          Take back <Key name="takeBack" />
        </button>
      ) : null}
    </>
  );
}

function send(about: string): void {
  const later = found(about);
  if (later?.state !== 'waiting') return;
  forget(about);
  put({ ...later, state: 'sending' });
  // A page that is closed meanwhile sends it nevertheless.
  later
    .run({ idempotencyKey: later.idempotencyKey, keepalive: true })
    .then(
      () => {
        later.onDone?.();
        put({ ...later, state: 'done' });
        at(about, saidMs, () => drop(about));
        say(`${later.done}.`);
      },
      (error: unknown) => put({ ...later, state: 'failed', error }),
    )
    .finally(() => {
      for (const queryKey of later.changes) queries.invalidateQueries({ queryKey }).catch(() => undefined);
    });
}

addEventListener('pagehide', () => {
  for (const { about } of now.all) send(about);
});

function found(about: string): Postponed | undefined {
  return now.all.find((one) => one.about === about);
}

function put(later: Postponed): void {
  const isNew = found(later.about) === undefined;
  change({ all: isNew ? [...now.all, later] : now.all.map((one) => (one.about === later.about ? later : one)) });
}

function drop(about: string): void {
  forget(about);
  change({ all: now.all.filter((one) => one.about !== about) });
}

/** What is done about something in so many milliseconds, and nothing else. */
function at(about: string, ms: number, then: () => void): void {
  forget(about);
  timers.set(about, setTimeout(then, ms));
}

function forget(about: string): void {
  clearTimeout(timers.get(about));
  timers.delete(about);
}

function say(said: string): void {
  change({ said });
}

function change(some: Partial<typeof now>): void {
  now = { ...now, ...some };
  for (const changed of listeners) changed();
}

function listen(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}
