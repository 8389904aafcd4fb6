import { posix } from 'node:path';
import express, { type Response, type Router } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { artifactsQuery, contentQuery, noQuery } from '@suzumio/contract/model/http-api';
import type { ArtifactView } from '@suzumio/contract/model/views';
import { filesOf } from '@suzumio/protocol/artifacts';
import { ContentStore } from '@suzumio/store/content/content-store';
import { publishedDirectory } from '@suzumio/store/content/directories';
import { findArtifact, listArtifacts } from '@suzumio/store/content/artifacts';
import { queryOf } from './body.js';
import type { ApiContext } from './context.js';
import { listAnswer } from './list-answer.js';
import { withProject } from './project-access.js';
import { type NamedContent, sendArchive, sendContent } from './send-content.js';

/** What was published: what is known of it, and its content. */
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

  const contentOf = ({ project }: { project: string }) => new ContentStore(context.cell.directory.projectDir(project));

  router.get('/api/projects/:project/artifacts', async (request, response) => {
    const page = queryOf(request, artifactsQuery);
    const artifacts = await withProject(context, response, request.params.project, ({ reader }) =>
      listArtifacts(reader, page),
    );
    response.json(listAnswer(artifacts));
  });

  router.get('/api/projects/:project/artifacts/:artifact', async (request, response) => {
    queryOf(request, noQuery);
    response.json(await find(response, request.params));
  });

  router.get('/api/projects/:project/artifacts/:artifact/entries', async (request, response) => {
    queryOf(request, noQuery);
    const artifact = await find(response, request.params);
    const manifest =
      artifact.kind === 'directory' && (await publishedDirectory(contentOf(request.params), artifact.sha256));
    if (!manifest)
      throw new SuzumioError('artifact-entry-unknown', `"${artifact.name}" is a file, so nothing is in it.`);
    response.json({ items: manifest.entries });
  });

  router.get('/api/projects/:project/artifacts/:artifact/content', async (request, response) => {
    const { path } = queryOf(request, contentQuery);
    const artifact = await find(response, request.params);
    const content = contentOf(request.params);
    if (path !== undefined) await sendContent(request, response, content, await fileOf(content, artifact, path));
    else if (artifact.kind === 'directory') await sendArchive(request, response, content, artifact);
    else await sendContent(request, response, content, artifact);
  });
  return router;
}

/** @throws SuzumioError `artifact-entry-unknown` */
async function fileOf(content: ContentStore, artifact: ArtifactView, path: string): Promise<NamedContent> {
  const files = artifact.kind === 'directory' ? filesOf(await publishedDirectory(content, artifact.sha256)) : [];
  const file = files.find((candidate) => candidate.path === path);
  if (file) return { name: posix.basename(path), sha256: file.sha256, sizeBytes: file.sizeBytes };
  throw new SuzumioError('artifact-entry-unknown', `There is no file "${path.slice(0, 80)}" in "${artifact.name}".`);
}
