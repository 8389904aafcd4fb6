import { type Message, SuzumioError } from '@suzumio/sdk/client';
import { type ActOptions, newKey } from '../../../acts/use-act.js';
import { askWhoIsIn, keys, queries, wordsOf } from '../../../api.js';
import { begin, drop, type Going, note } from './outbox.js';
import { upload } from './upload.js';

/** A file that goes with a letter. Its bytes are with the page; its `id` is the artifact's, once it was uploaded. */
export interface Attached {
  readonly key: string;
  readonly name: string;
  readonly size: number;
  readonly id?: string;
}

/** A letter that is written. */
export interface Letter {
  /** Whom it is for, as a choice of the composer, from the first word on; empty before. */
  readonly to: string;
  /** The message that it answers, by id, from the first word on. */
  readonly answers: string;
  readonly priority: Message['priority'];
  readonly body: string;
  readonly files: readonly Attached[];
  /** The idempotency key under which the letter, as it is, may have arrived already. */
  readonly tried: string;
}

export const noLetter: Letter = { to: '', answers: '', priority: 'P1', body: '', files: [], tried: '' };

/** Chosen files, by the keys of what they are attached as: no storage of the browser has them. */
export const chosen = new Map<string, File>();

interface Sent {
  readonly id: string;
  readonly seq: number;
}

interface Delivery {
  letter: Letter;
  going: Going;
  /** Keeps in the draft how far it is. */
  keep: (change: (before: Letter) => Letter) => void;
  forget: () => void;
  /** Sends it, once its files are artifacts. */
  ask: (attachments: readonly string[], options: ActOptions & { signal: AbortSignal }) => Promise<Sent>;
}

const stoppers = new Map<string, AbortController>();

/** Ends the tries: the letter is a draft again. */
export function stop(key: string): void {
  stoppers.get(key)?.abort(new Error('It is not tried any more.'));
}

/**
 * Uploads what a letter carries, then sends it. While the server cannot be reached it is tried again: each of it takes
 * effect once. It goes on when its composer is not shown any more.
 *
 * @returns undefined where it has not gone: what was refused says why, and the draft is as it was
 */
export async function deliver({ letter, going, keep, forget, ask }: Delivery): Promise<Sent | undefined> {
  const { key, project } = going;
  const tell: Tell = (news) => note(key, news);
  const stopper = new AbortController();
  const { signal } = stopper;
  stoppers.set(key, stopper);
  begin(going);
  try {
    const ids = await publish(project, letter.files, {
      tell,
      keep: (file) =>
        keep((before) => ({ ...before, files: before.files.map((one) => (one.key === file.key ? file : one)) })),
      signal,
    });
    const idempotencyKey = letter.tried === '' ? newKey() : letter.tried;
    keep((before) => ({ ...before, tried: idempotencyKey }));
    const sent = await patiently(() => ask(ids, { idempotencyKey, signal }), tell, signal);
    forget();
    for (const file of letter.files) chosen.delete(file.key);
    note(key, { id: sent.id, waits: undefined });
    const isRead = queries.invalidateQueries({ queryKey: keys.project(project) });
    isRead.then(
      () => drop(key),
      () => drop(key),
    );
    return sent;
  } catch (error) {
    askWhoIsIn(error);
    if (error instanceof SuzumioError && !error.retryable) {
      // What was refused has not arrived: it may be another letter the next time.
      keep((before) => ({ ...before, tried: '' }));
    }
    if (signal.aborted) drop(key);
    else note(key, { refused: wordsOf(error), waits: undefined });
    return undefined;
  } finally {
    stoppers.delete(key);
  }
}

/** Told how far it is, and what keeps it. */
type Tell = (news: Pick<Partial<Going>, 'uploaded' | 'waits'>) => void;

/**
 * Uploads files, each once.
 *
 * @param how.keep given each that is an artifact from now on
 * @returns the artifacts' ids
 */
export async function publish(
  project: string,
  files: readonly Attached[],
  { tell, keep, signal }: { tell: Tell; keep: (file: Attached) => void; signal: AbortSignal },
): Promise<string[]> {
  const ids: string[] = [];
  for (const file of files) {
    const id = file.id ?? (await patiently(() => uploaded(project, file, tell, signal), tell, signal));
    keep({ ...file, id });
    ids.push(id);
  }
  return ids;
}

async function uploaded(
  project: string,
  { key: idempotencyKey, name }: Attached,
  tell: Tell,
  signal: AbortSignal,
): Promise<string> {
  const file = chosen.get(idempotencyKey);
  if (file === undefined || !(await isReadable(file))) {
    throw new Error(`${name} is not here any more. Choose it again, or remove it.`);
  }
  const progress = (bytes: number) => tell({ uploaded: { [idempotencyKey]: bytes }, waits: undefined });
  progress(0);
  return (await upload({ project, name, file, idempotencyKey, progress, signal })).id;
}

/** A file that was moved or changed after it was chosen cannot be read. */
function isReadable(file: File): Promise<boolean> {
  return file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );
}

const delaysMs = [500, 1_000, 2_000, 4_000];
const patience = { delayMs: 8_000, forMs: 15 * 60_000, tries: 4 };
/** What ends by itself. */
const away = new Set(['server-unreachable', 'rate-limited', 'store-busy']);

/** Runs something that takes effect once again and again, as long as that may help. */
async function patiently<Answer>(run: () => Promise<Answer>, tell: Tell, signal: AbortSignal): Promise<Answer> {
  const untilMs = performance.now() + patience.forMs;
  for (let tries = 0; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      if (signal.aborted || !(error instanceof SuzumioError) || !error.retryable) throw error;
      if (performance.now() > untilMs || (tries >= patience.tries && !away.has(error.code))) throw error;
      tell({ waits: error.message });
    }
    await rest(delaysMs[tries] ?? patience.delayMs, signal);
    signal.throwIfAborted();
  }
}

/** Some time, or less where the browser is connected again, or nobody waits any more. */
function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener('online', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    addEventListener('online', end);
    signal.addEventListener('abort', end);
  });
}
