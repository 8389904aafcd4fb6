import { posix } from 'node:path';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ArtifactView } from '@suzumio/contract/model/artifact';
import type { artifacts } from '@suzumio/contract/operations/artifacts';
import { filesOf } from '@suzumio/protocol/artifacts';
import { ContentStore } from '@suzumio/store/content/content-store';
import { publishedDirectory } from '@suzumio/store/content/directories';
import { findArtifact, listArtifacts, requireContent } from '@suzumio/store/content/artifacts';
import { readReports } from '@suzumio/store/content/reports';
import { redactableArtifact } from '@suzumio/store/redaction/redact-artifact';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import type { Runs } from '../routes.js';
import { redactNow } from './redact-now.js';
import { requireCreator, sendArtifacts } from './send-artifacts.js';
import { type NamedContent, sendArchive, sendContent } from './send-content.js';
import { sendReport } from './send-report.js';
import { sendView } from './send-view.js';
import { uploadArtifact } from './upload-artifact.js';

export const artifactRuns: Runs<typeof artifacts> = {
  listArtifacts: (call) =>
    call.read((reader) => {
      requireCreator(reader, call.query.creator);
      return listArtifacts(reader, call.query);
    }),

  uploadArtifact,

  getArtifactsArchive: sendArtifacts,

  getArtifact: (call) => call.read((reader) => knownArtifact(reader, call.params.artifact)),

  async listArtifactEntries(call) {
    const { project, artifact: id } = call.params;
    const artifact = await call.read((reader) => readableArtifact(reader, id));
    if (artifact.kind !== 'directory') {
      throw new SuzumioError('artifact-entry-unknown', `"${artifact.name}" is a file, so nothing is in it.`);
    }
    const content = new ContentStore(call.context.cell.directory.projectDir(project));
    return { items: (await publishedDirectory(content, artifact.sha256)).entries };
  },

  async getArtifactContent(call) {
    const { request, response } = call;
    const { project, artifact: id } = call.params;
    const { path } = call.query;
    const artifact = await call.read((reader) => readableArtifact(reader, id));
    const content = new ContentStore(call.context.cell.directory.projectDir(project));
    if (path !== undefined) await sendContent(request, response, content, await fileOf(content, artifact, path));
    else if (artifact.kind === 'directory') await sendArchive(request, response, content, artifact);
    else await sendContent(request, response, content, artifact);
  },

  async viewArtifact(call) {
    const { request, response } = call;
    const { project, artifact: id } = call.params;
    const { path } = call.query;
    const artifact = await call.read((reader) => readableArtifact(reader, id));
    const content = new ContentStore(call.context.cell.directory.projectDir(project));
    const file = path === undefined ? artifact : await fileOf(content, artifact, path);
    await sendView(request, response, content, file);
  },

  redactArtifact: (call) => {
    const { project, artifact } = call.params;
    const content = new ContentStore(call.context.cell.directory.projectDir(project));
    return redactNow(call, (reader) => redactableArtifact(knownArtifact(reader, artifact), content));
  },

  listReports: (call) => call.read((reader) => readReports(reader, call.query)),

  getReport: sendReport,
};

/** @throws SuzumioError `artifact-unknown` */
function knownArtifact(reader: SqlReader, id: string): ArtifactView {
  const artifact = findArtifact(reader, { id });
  if (artifact) return artifact;
  throw new SuzumioError('artifact-unknown', `There is no artifact "${id.slice(0, 80)}" in this project.`);
}

/** @throws SuzumioError `artifact-unknown`, `artifact-redacted` */
function readableArtifact(reader: SqlReader, id: string): ArtifactView {
  const artifact = knownArtifact(reader, id);
  requireContent(artifact);
  return artifact;
}

/** @throws SuzumioError `artifact-entry-unknown` */
async function fileOf(content: ContentStore, artifact: ArtifactView, path: string): Promise<NamedContent> {
  const files = artifact.kind === 'directory' ? filesOf(await publishedDirectory(content, artifact.sha256)) : [];
  const file = files.find((candidate) => candidate.path === path);
  if (file) return { name: posix.basename(path), sha256: file.sha256, sizeBytes: file.sizeBytes };
  throw new SuzumioError('artifact-entry-unknown', `There is no file "${path.slice(0, 80)}" in "${artifact.name}".`);
}
