import type { Request, Response } from 'express';
import { SuzumioError } from '@suzumio/shared/errors/suzumio-error';
import { sendFile } from '@suzumio/shared/http/send-file';
import { parse } from '@suzumio/shared/http/validate';
import { sha256 } from '@suzumio/shared/protocol/ids';
import { ContentStore } from '@suzumio/shared/store/content-store';
import type { ToolhostContext } from './context.js';

/** The files of one project. */
export function contentOf(context: ToolhostContext, project: string): ContentStore {
  return new ContentStore(context.cell.directory.projectDir(project));
}

/** Takes an upload: durable before it is answered, refused where it is not what its name says. */
export async function storeContent(
  context: ToolhostContext,
  project: string,
  request: Request,
  response: Response,
): Promise<void> {
  const hash = parse(sha256, request.params['sha256'], 'content hash');
  await contentOf(context, project).put(hash, request);
  response.status(204).end();
}

/** Sends some content, or only its size: who asks for that is about to refer to it. */
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
