import type { Request, Response } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { sendFile } from '@suzumio/runtime/http/send-file';
import { parse } from '@suzumio/runtime/http/validate';
import { sha256 } from '@suzumio/protocol/ids';
import type { ContentOwner } from '@suzumio/store/content/charged-content';
import { ContentStore } from '@suzumio/store/content/content-store';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import type { ToolhostContext } from './context.js';

/** The files of one project. */
export function contentOf(context: ToolhostContext, project: string): ContentStore {
  return new ContentStore(context.cell.directory.projectDir(project));
}

/** Stores an upload: durable before it is answered; refused where its hash is wrong or its owner has no room. */
export async function storeContent(
  context: ToolhostContext,
  store: ProjectStore,
  by: ContentOwner,
  request: Request,
  response: Response,
): Promise<void> {
  const hash = parse(sha256, request.params['sha256'], 'content hash');
  const sizeBytes = Number(request.headers['content-length'] ?? 0);
  await store.content.put(contentOf(context, store.project), request, by, { sha256: hash, sizeBytes });
  response.status(204).end();
}

/** Sends content, or only its size to a caller that is about to refer to it. */
export async function sendContent(
  context: ToolhostContext,
  project: string,
  name: unknown,
  headOnly: boolean,
  response: Response,
): Promise<void> {
  const hash = parse(sha256, name, 'content hash');
  const content = contentOf(context, project);
  const sizeBytes = headOnly ? await content.renew(hash) : await content.sizeOf(hash);
  if (sizeBytes === undefined) {
    throw new SuzumioError('not-found', `This project has no content ${hash}.`, { sha256: hash });
  }
  response.set({ 'content-type': 'application/octet-stream', 'content-length': String(sizeBytes) });
  if (headOnly) response.end();
  else await sendFile(response, content.read(hash));
}
