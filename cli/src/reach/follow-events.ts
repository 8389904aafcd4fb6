import { EventSource } from 'eventsource';
import type { ApiAddress } from '@suzumio/contract/client/client';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { eventTypes, projectEvent, type ProjectEvent } from '@suzumio/contract/model/event';
import { addressOf } from './api-client.js';

export interface Follow {
  readonly server: ApiAddress;
  readonly project: string;
  /** The id of the last event that is known; without it, from the beginning. */
  readonly after: string | undefined;
  readonly onEvent: (event: ProjectEvent) => void;
  /** The project was restored from a backup: everything comes anew. */
  readonly onReset: () => void;
  /** The connection was lost; it is made again until `signal` ends it. */
  readonly onLost: () => void;
  readonly signal: AbortSignal;
}

/**
 * Follows a project's events, each once and in order; a connection that is lost is resumed where it stopped. Resolves
 * when `signal` is aborted.
 *
 * @throws SuzumioError when the server refuses; `project-unknown` once the project was deleted
 */
export async function followEvents({
  server,
  project,
  after,
  onEvent,
  onReset,
  onLost,
  signal,
}: Follow): Promise<void> {
  if (signal.aborted) return;
  const url = addressOf(server.url, `/api/projects/${encodeURIComponent(project)}/stream`);
  if (after !== undefined) url.searchParams.set('after', after);
  const source = new EventSource(url, {
    fetch: (address, init) =>
      fetch(address, { ...init, headers: { ...init.headers, authorization: `Bearer ${server.token}` } }),
  });
  try {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      const attempt = (handle: () => void) => {
        try {
          handle();
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      for (const type of eventTypes) {
        source.addEventListener(type, (message) =>
          attempt(() => onEvent(projectEvent.parse(JSON.parse(String(message.data))))),
        );
      }
      source.addEventListener('reset', () => attempt(onReset));
      source.addEventListener('deleted', () =>
        reject(new SuzumioError('project-unknown', `${project} was deleted.`, { project })),
      );
      let lost = false;
      source.addEventListener('open', () => (lost = false));
      source.addEventListener('error', (error) => {
        if (source.readyState === source.CLOSED) {
          reject(
            new SuzumioError(
              'server-unreachable',
              `${server.url} does not let us follow ${project}: ${error.message ?? 'no reason given'}.`,
            ),
          );
        } else if (!lost) {
          lost = true;
          onLost();
        }
      });
    });
  } finally {
    source.close();
  }
}
