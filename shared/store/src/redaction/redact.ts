import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import type { RedactionLeft } from '@suzumio/contract/model/redaction';
import { type IdempotencyKey, once } from '../sqlite/once.js';
import type { Database } from '../sqlite/tx.js';
import { findCopies } from './find-copies.js';
import { redactLogs } from './redact-logs.js';
import type { Asked, Redactable, Redacted } from './redactable.js';
import { wipe, type Wipe } from './wipe.js';

/** A project's database, its file, and the directory in which everything of the project is. */
export interface ProjectPlace {
  store: Database;
  file: string;
  directory: string;
}

/**
 * Removes the content of a message or an artifact, and its copies in what the project has recorded; a second time goes on
 * with what the first had to leave. What was recorded is searched first, with the project going on, and what has come
 * since in the transaction.
 *
 * @throws SuzumioError `idempotency-mismatch`, `store-busy`
 */
export async function redact(
  { store, file, directory }: ProjectPlace,
  subject: Redactable,
  asked: Asked & { key?: IdempotencyKey | undefined },
): Promise<Redacted & { left: RedactionLeft[] }> {
  const isNew = subject.redacted === null;
  const searched = await findCopies(store.reader, isNew ? subject.patterns : []);
  // Where this ends in between, it is asked for again: until then the text is still known.
  if (isNew) await redactLogs(directory, subject.without);
  const { id, redacted } = await store.write((tx) =>
    once(tx, asked.key, () => ({ ...subject.redact(tx, searched, asked) })),
  );
  // Attempts that were over may have handed in their logs meanwhile.
  if (isNew) await redactLogs(directory, subject.without);
  const used = (await subject.removeContent?.(store, directory)) ?? [];
  const wiped = await wipe(store, file, { atLeastOnce: isNew });
  return { id, redacted, left: [...used, ...notWiped(wiped), ...(await copiesOf(file, directory))] };
}

function notWiped(wipe: Wipe): RedactionLeft[] {
  if (wipe.outcome === 'done') return [];
  const why = wipe.outcome === 'failed' ? `it cannot be rewritten (${messageOf(wipe.error)})` : 'others use it';
  const detail = `The free space of the database, and its log, may still have the bytes: ${why}. It is tried again within the hour, and when this is asked for again.`;
  return [{ what: 'database', detail }];
}

async function copiesOf(file: string, directory: string): Promise<RedactionLeft[]> {
  const copies = (await readdir(directory)).filter((name) => name.startsWith(`${basename(file)}.schema-`));
  if (copies.length === 0) return [];
  const detail = `${copies.join(', ')}: copies of the database from before it was migrated, which are not changed. Remove them when nothing of them is needed any more.`;
  return [{ what: 'copies', detail }];
}
