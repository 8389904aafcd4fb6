import express, { type Request, type Response, type Router } from 'express';
import { SuzumioError } from '@suzumio/shared/errors/suzumio-error';
import { noQuery, pageQuery } from '@suzumio/shared/model/http-api';
import type { ArtifactView } from '@suzumio/shared/model/views';
import { ContentStore } from '@suzumio/shared/store/content-store';
import { findArtifact, listArtifacts } from '@suzumio/shared/store/queries/artifacts';
import { queryOf } from './body.js';
import type { ApiContext } from './context.js';
import { listAnswer } from './list-answer.js';
import { withProject } from './project-access.js';
import { sendFile } from './send-file.js';

/** Published files: what is known of them, and their content. */
export function artifactsRouter(context: ApiContext): Router {
  const router = express.Router();
  const find = async (
    response: Response,
    { project, artifact: id }: { project: string; artifact: string },
  ): Promise<ArtifactView> => {
    const artifact = await withProject(context, response, project, ({ reader }) => findArtifact(reader, { id }));
    if (artifact) return artifact;
    throw new SuzumioError('artifact-unknown', `There is no artifact "${id.slice(0, 80)}" in this project.`);
  };

  router.get('/api/projects/:project/artifacts', async (request, response) => {
    const page = queryOf(request, pageQuery);
    const artifacts = await withProject(context, response, request.params.project, ({ reader }) =>
      listArtifacts(reader, page),
    );
    response.json(listAnswer(artifacts));
  });

  router.get('/api/projects/:project/artifacts/:artifact', async (request, response) => {
    queryOf(request, noQuery);
    response.json(await find(response, request.params));
  });

  router.get('/api/projects/:project/artifacts/:artifact/content', async (request, response) => {
    queryOf(request, noQuery);
    const { name, sha256, sizeBytes } = await find(response, request.params);
    const content = new ContentStore(context.cell.directory.projectDir(request.params.project));
    if ((await content.sizeOf(sha256)) !== sizeBytes) {
      throw new SuzumioError('store-corrupt', `The content ${sha256} is missing or has another size than it had.`);
    }
    response.set({ etag: `"${sha256}"`, 'accept-ranges': 'bytes' });
    if (request.fresh) {
      response.status(304).end();
      return;
    }
    const range = rangeOf(request, response, sizeBytes);
    // An agent chose name and content: a browser saves it, and neither shows nor runs it.
    response.attachment(name).type('application/octet-stream');
    if (range) response.status(206).set('content-range', `bytes ${range.start}-${range.end}/${sizeBytes}`);
    response.set('content-length', String(range ? range.end - range.start + 1 : sizeBytes));
    if (request.method === 'HEAD') response.end();
    else await sendFile(response, content.read(sha256, range));
  });
  return router;
}

/**
 * The part of some content that is asked for; undefined means all of it, which is also the answer to several parts, and
 * to a part of a version that is not this one.
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
