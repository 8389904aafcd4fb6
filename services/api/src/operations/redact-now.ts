import type { messages, RedactedAnswer } from '@suzumio/contract/operations/messages';
import { redact } from '@suzumio/store/redaction/redact';
import type { Redactable } from '@suzumio/store/redaction/redactable';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import type { Call } from '../call.js';

/** Redacts what the path names, and has turns that begin anew with it scheduled. */
export async function redactNow(
  call: Pick<Call<typeof messages.redactMessage>, 'withProject' | 'context' | 'actor' | 'key' | 'body' | 'params'>,
  subjectOf: (reader: SqlReader) => Redactable,
): Promise<RedactedAnswer> {
  const { actor, key, params, context } = call;
  const { project } = params;
  const { because = null } = call.body;
  const { directory } = context.cell;
  const answer = await call.withProject((store) =>
    redact(
      { store, directory: directory.projectDir(project), file: directory.projectFile(project) },
      subjectOf(store.reader),
      { actor, because, key },
    ),
  );
  context.transport.wake(project);
  return answer;
}
