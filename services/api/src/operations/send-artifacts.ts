import { USER_ID } from '@suzumio/contract/model/project-config';
import type { ArtifactView } from '@suzumio/contract/model/artifact';
import type { artifacts } from '@suzumio/contract/operations/artifacts';
import { sendFile } from '@suzumio/runtime/http/send-file';
import { newestArtifactOfAll, newestVersions } from '@suzumio/store/content/artifacts';
import { ContentStore } from '@suzumio/store/content/content-store';
import { agentRow } from '@suzumio/store/rows';
import type { Part } from '@suzumio/store/sqlite/page';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import type { Run } from '../routes.js';

/** So many artifacts are looked up at once, while the archive is written. */
const atOnce = 100;

/** Sends the newest version of everything that is published as a tar, which is made while it is sent. */
export const sendArtifacts: Run<typeof artifacts.getArtifactsArchive> = async (call) => {
  const { request, response } = call;
  const { project } = call.params;
  const { creator } = call.query;
  // What is published while the archive is written is not in it.
  const upTo = await call.read((reader) => {
    requireCreator(reader, creator);
    return newestArtifactOfAll(reader);
  });
  const name = `${project}-artifacts`;
  response.attachment(`${name}.tar`).type('application/x-tar').set('accept-ranges', 'none');
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  const published = async function* () {
    let after: number | undefined = 0;
    while (after !== undefined) {
      const page = { after, limit: atOnce, upTo, creator };
      const part: Part<ArtifactView> = await call.read((reader) => newestVersions(reader, page));
      yield* part.items;
      after = part.next;
    }
  };
  const { artifactsArchive } = await import('./directory-archive.js');
  const content = new ContentStore(call.context.cell.directory.projectDir(project));
  await sendFile(response, artifactsArchive(content, name, published()));
};

/** @throws SuzumioError `agent-unknown` where a creator is neither the person nor an agent */
export function requireCreator(reader: SqlReader, creator: string | undefined): void {
  if (creator !== undefined && creator !== USER_ID) agentRow(reader, creator);
}
