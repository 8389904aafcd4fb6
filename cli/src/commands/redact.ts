import type { Command } from 'commander';
import type { NoteRecordAnswer } from '@suzumio/contract/operations/memory';
import type { RedactedAnswer } from '@suzumio/contract/operations/messages';
import { cutBody, oneLine, renderBody } from '@suzumio/core/prompt/body';
import { artifactCalled } from '../reach/api-client.js';
import { requireApi } from '../reach/reach.js';
import type { Session } from '../session.js';
import type { Action } from './action.js';
import { confirm } from './confirm.js';
import { examples } from './help.js';
import { dayAndTime, size } from '../render/format.js';
import { tell } from './tell.js';

export interface RedactOptions {
  because?: string;
  yes: boolean;
}

/** The options of commands that redact something. */
export function withRedact(command: Command): Command {
  return command.option('--because <text>', 'why, in a few words that are kept').option('--yes', 'do not ask', false);
}

export function registerRedactMessage(mail: Command, action: Action): void {
  examples(
    withRedact(
      mail
        .command('redact <project> <message>')
        .description('remove the text of a message, and its copies in what the project has recorded'),
    ),
    ['messages redact newsroom 12', 'says what will be lost, and asks'],
    ['messages redact newsroom 12 --because "It held a password." --yes'],
  ).action(action(redactMessage));
}

export function registerRedactArtifact(artifacts: Command, action: Action): void {
  examples(
    withRedact(
      artifacts
        .command('redact <project> <artifact>')
        .description('remove the content of an artifact, and its copies in what the project has recorded'),
    ),
    ['artifacts redact newsroom bulletin.md', 'the newest of that name; says what will be lost, and asks'],
    ['artifacts redact newsroom art_01KB3Z8T5V0000000000000001 --because "It held names." --yes'],
  ).action(action(redactArtifact));
}

async function redactMessage(
  session: Session,
  project: string,
  name: string,
  { because, yes }: RedactOptions,
): Promise<undefined> {
  const api = await requireApi(session);
  const { id, seq, sender, body } = await api.getMessage({ project, message: name });
  const warning = `Redacting message ${seq} from ${sender} removes its text and its copies for good. ${known}`;
  await confirmGoing(session, warning, [body], { yes, command: `messages redact ${project} ${seq}` });
  const answer = await api.redactMessage({ project, message: id, body: { because } });
  tellRedacted(session, answer, `Message ${seq}`, `messages show ${project} ${seq}`);
}

async function redactArtifact(
  session: Session,
  project: string,
  named: string,
  { because, yes }: RedactOptions,
): Promise<undefined> {
  const api = await requireApi(session);
  const { id, name, creator, sizeBytes } = await artifactCalled(api, project, named);
  const warning = `Redacting ${oneLine(name)} from ${creator} (${id}, ${size(sizeBytes)}) removes its content and its copies for good. ${known}`;
  await confirm(session, warning, { yes, command: `artifacts redact ${project} ${id}` });
  const answer = await api.redactArtifact({ project, artifact: id, body: { because } });
  tellRedacted(session, answer, oneLine(name), `artifacts ${project}`);
}

/** Redacts a note of an agent or a profile, which may have been changed or erased. */
export async function redactNote(
  session: Session,
  { of, id, command }: { of: string; id: string; command: string },
  notes: {
    record: () => Promise<NoteRecordAnswer>;
    redact: (body: { because?: string | undefined }) => Promise<RedactedAnswer>;
  },
  { because, yes }: RedactOptions,
): Promise<undefined> {
  const { versions } = await notes.record();
  const texts = versions.map(({ text, tags }) => (tags.length === 0 ? text : `${text}\n(tags: ${tags.join(', ')})`));
  const what =
    ['what is left of it', 'the note'][versions.length] ??
    `the note, ${String(versions.length)} texts that it has had,`;
  const warning = `Redacting ${id} of ${of} removes ${what} and its copies for good. ${known}`;
  await confirmGoing(session, warning, texts, { yes, command: `memory redact ${command} ${id}` });
  tellRedacted(session, await notes.redact({ because }), id, `memory list ${command}`);
}

/** Asks, and shows what goes. */
async function confirmGoing(
  session: Session,
  warning: string,
  texts: readonly string[],
  agreed: { yes: boolean; command: string },
): Promise<void> {
  // Who has agreed already sees nothing: what is to be removed is not written to a log once more.
  const isShown = !agreed.yes && session.context.ask !== undefined;
  const shown = isShown ? texts.flatMap((text, at) => [...(at === 0 ? [] : ['']), ...beginningOf(text)]) : [];
  await confirm(session, [warning, ...shown].join('\n'), agreed);
}

const known = 'Turns that know it and have not ended begin anew. Files of workspaces and backups keep what they have.';

const mostLines = 10;

/** A text as it is shown to who decides about it: every line has a prefix, and a long one is cut. */
function beginningOf(body: string): string[] {
  const lines = renderBody(cutBody(body, 2_000)).split('\n');
  const more = lines.length > mostLines || cutBody(body, 2_000) !== body;
  return [...lines.slice(0, mostLines), ...(more ? ['| …'] : [])];
}

function tellRedacted(session: Session, answer: RedactedAnswer, what: string, next: string): void {
  const { redacted, left } = answer;
  tell(
    session,
    answer,
    [
      `${what} was redacted by ${redacted.by}, ${dayAndTime(redacted.at, session.context)}.`,
      ...left.map(({ detail }) => detail),
    ],
    next,
  );
}
