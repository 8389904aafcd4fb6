import type { Request, Response } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { sendFile } from '@suzumio/runtime/http/send-file';
import type { ArtifactView } from '@suzumio/contract/model/artifact';
import type { ContentStore } from '@suzumio/store/content/content-store';
import { publishedDirectory } from '@suzumio/store/content/directories';

/** One file of the content store, and its name. */
export interface NamedContent {
  name: string;
  sha256: string;
  sizeBytes: number;
}

/**
 * Sends a file, or the requested range of it.
 *
 * @throws SuzumioError `range-not-satisfiable`, `store-corrupt`
 */
export async function sendContent(
  request: Request,
  response: Response,
  content: ContentStore,
  { name, sha256, sizeBytes }: NamedContent,
): Promise<void> {
  await requireWhole(content, { sha256, sizeBytes });
  response.set({ etag: `"${sha256}"`, 'accept-ranges': 'bytes' });
  if (request.fresh) {
    response.status(304).end();
    return;
  }
  const range = rangeOf(request, response, sizeBytes);
  // An agent chose name and content: a browser must save it, and neither show nor run it.
  response.attachment(name).type('application/octet-stream');
  if (range) response.status(206).set('content-range', `bytes ${range.start}-${range.end}/${sizeBytes}`);
  response.set('content-length', String(range ? range.end - range.start + 1 : sizeBytes));
  if (request.method === 'HEAD') response.end();
  else await sendFile(response, content.read(sha256, range));
}

/** @throws SuzumioError `store-corrupt` where content is missing or has another size */
export async function requireWhole(
  content: ContentStore,
  { sha256, sizeBytes }: Pick<NamedContent, 'sha256' | 'sizeBytes'>,
): Promise<void> {
  if ((await content.sizeOf(sha256)) === sizeBytes) return;
  throw new SuzumioError('store-corrupt', `The content ${sha256} is missing or has another size than it had.`);
}

/**
 * Sends a directory as a tar, always in full.
 *
 * @throws SuzumioError `store-corrupt`
 */
export async function sendArchive(
  request: Request,
  response: Response,
  content: ContentStore,
  artifact: ArtifactView,
): Promise<void> {
  const manifest = await publishedDirectory(content, artifact.sha256);
  response.set({ etag: `"${artifact.sha256}.tar"`, 'accept-ranges': 'none' });
  if (request.fresh) {
    response.status(304).end();
    return;
  }
  response.attachment(`${artifact.name}.tar`).type('application/x-tar');
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  const { directoryArchive } = await import('./directory-archive.js');
  await sendFile(response, directoryArchive(content, artifact, manifest));
}

/**
 * The requested range of content; undefined means all of it, which also answers requests for several ranges, or for a
 * range of another version.
 *
 * @throws SuzumioError `range-not-satisfiable`
 */
function rangeOf(request: Request, response: Response, sizeBytes: number): { start: number; end: number } | undefined {
  const ofVersion = request.get('if-range');
  if (request.method !== 'GET' || !/^bytes=/i.test(request.get('range') ?? '')) return undefined;
  if (ofVersion !== undefined && ofVersion !== response.get('etag')) return undefined;
  const ranges = request.range(sizeBytes);
  if (ranges === -1) {
    response.set('content-range', `bytes */${sizeBytes}`);
    throw new SuzumioError('range-not-satisfiable', `The content has ${sizeBytes} bytes; none of them is asked for.`);
  }
  return Array.isArray(ranges) && ranges.length === 1 ? ranges[0] : undefined;
}
