import { SuzumioError } from '../errors/suzumio-error.js';
import type { EventType, ProjectEvent } from '../model/event.js';
import type { Client } from './client.js';
import { followStream } from './event-stream.js';

export interface Follow {
  readonly project: string;
  /** The id of the last event that is known. @default from the beginning */
  readonly after?: string | undefined;
  /** Only events of these types. @default all */
  readonly types?: readonly EventType[];
  /** The project was restored from a backup: everything comes anew. */
  readonly onReset?: () => void;
  /** A connection was made: the first one, or another after it was lost. */
  readonly onOpen?: () => void;
  /** The connection was lost; it is made again until `signal` ends it. */
  readonly onLost?: () => void;
  readonly signal?: AbortSignal;
}

/**
 * A project's events, each once and in order; a connection that is lost is resumed where it stopped. Ends when `signal`
 * is aborted.
 *
 * @throws SuzumioError when the server refuses; `project-unknown` once the project was deleted
 */
export async function* followEvents(
  api: Pick<Client, 'streamEvents'>,
  { project, after: from, types, onReset, onOpen, onLost, signal }: Follow,
): AsyncGenerator<ProjectEvent, void, undefined> {
  const open = (after: string | undefined, signal: AbortSignal) =>
    api.streamEvents({ project, query: { after, types } }, { signal });
  for await (const { type, data } of followStream({ open, after: from, onOpen, onLost, signal })) {
    if (type === 'reset') onReset?.();
    else if (type === 'deleted') throw new SuzumioError('project-unknown', `${project} was deleted.`, { project });
    else yield data as ProjectEvent;
  }
}
