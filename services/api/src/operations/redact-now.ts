import type { RedactedAnswer } from '@suzumio/contract/operations/messages';
import type { OperationShape } from '@suzumio/contract/operations/operation';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { redact } from '@suzumio/store/redaction/redact';
import type { Asked, Redactable } from '@suzumio/store/redaction/redactable';
import type { IdempotencyKey } from '@suzumio/store/sqlite/once';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import type { Call } from '../call.js';
import type { ApiContext } from '../context.js';

/** Redacts what the path names, and has turns that begin anew with it scheduled. */
export async function redactNow(
  call: Pick<Call<OperationShape>, 'withProject' | 'context' | 'actor' | 'key'> & {
    body: { because?: string | undefined };
  },
  subjectOf: (reader: SqlReader) => Redactable | Promise<Redactable>,
): Promise<RedactedAnswer> {
  const { actor, key, context } = call;
  const { because = null } = call.body;
  return call.withProject(async (store) =>
    redactIn(context, store, await subjectOf(store.reader), { actor, because, key }),
  );
}

/** Redacts something in one project, with copies in notes of profiles that its agents wrote. */
export async function redactIn(
  { cell: { directory, catalog }, transport }: ApiContext,
  store: ProjectStore,
  subject: Redactable,
  asked: Asked & { key?: IdempotencyKey | undefined },
): Promise<RedactedAnswer> {
  const { project } = store;
  const place = { store, directory: directory.projectDir(project), file: directory.projectFile(project) };
  // Copies in notes of profiles go before the text is forgotten, by which they are known; and those that came meanwhile.
  const redactNotes = async () => {
    if (subject.redacted === null) await catalog.profileNotes.redact(project, subject.without);
  };
  await redactNotes();
  const answer = await redact(place, subject, asked);
  await redactNotes();
  transport.wake(project);
  return answer;
}
