import type { RedactedAnswer } from '@suzumio/contract/operations/messages';
import type { OperationShape } from '@suzumio/contract/operations/operation';
import { redact } from '@suzumio/store/redaction/redact';
import type { Redactable } from '@suzumio/store/redaction/redactable';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import type { Call } from '../call.js';

/** Redacts what the path names, and has turns that begin anew with it scheduled. */
export async function redactNow(
  call: Pick<Call<OperationShape>, 'withProject' | 'context' | 'actor' | 'key'> & {
    params: { project: string };
    body: { because?: string | undefined };
  },
  subjectOf: (reader: SqlReader) => Redactable | Promise<Redactable>,
): Promise<RedactedAnswer> {
  const { actor, key, params, context } = call;
  const { project } = params;
  const { because = null } = call.body;
  const { directory, catalog } = context.cell;
  const answer = await call.withProject(async (store) => {
    const subject = await subjectOf(store.reader);
    const place = { store, directory: directory.projectDir(project), file: directory.projectFile(project) };
    // Copies in notes of profiles go before the text is forgotten, by which they are known; and those that came meanwhile.
    const redactNotes = async () => {
      if (subject.redacted === null) await catalog.profileNotes.redact(project, subject.without);
    };
    await redactNotes();
    const redacted = await redact(place, subject, { actor, because, key });
    await redactNotes();
    return redacted;
  });
  context.transport.wake(project);
  return answer;
}
