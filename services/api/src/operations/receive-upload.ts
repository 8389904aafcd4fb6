import type { Request } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { USER_ID } from '@suzumio/contract/model/project-config';
import type { ContentStore } from '@suzumio/store/content/content-store';
import type { ProjectStore } from '@suzumio/store/projects/project-store';

/**
 * Refuses, before the body of an upload is read, what would be refused in the end.
 *
 * @throws SuzumioError `invalid-request`, `content-too-large`
 */
export function refuseOtherBodies(request: Request, maxBytes: number): void {
  if (request.get('content-type') !== 'application/octet-stream') {
    throw new SuzumioError(
      'invalid-request',
      "The body has to be the file's bytes: send Content-Type: application/octet-stream.",
    );
  }
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    throw new SuzumioError('content-too-large', `A file may have ${maxBytes} bytes at most.`, { maxBytes });
  }
}

/** Stores what a person uploads. A client that disconnects meanwhile is no server error: nothing of its file is kept. */
export async function received(
  request: Request,
  store: ProjectStore,
  content: ContentStore,
): Promise<{ sha256: string; sizeBytes: number }> {
  const sizeBytes = Number(request.headers['content-length'] ?? 0);
  try {
    return await store.content.put(content, request, { owner: USER_ID, kind: 'uploads' }, { sizeBytes });
  } catch (error) {
    if (!request.readableAborted) throw error;
    throw new SuzumioError('invalid-request', 'The file has not arrived whole.', {}, { cause: error });
  }
}
