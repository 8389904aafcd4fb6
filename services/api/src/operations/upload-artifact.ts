import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { USER_ID } from '@suzumio/contract/model/project-config';
import type { artifacts } from '@suzumio/contract/operations/artifacts';
import { ContentStore, maxContentBytes } from '@suzumio/store/content/content-store';
import { findArtifact } from '@suzumio/store/content/artifacts';
import { publishArtifact } from '@suzumio/store/content/publish-artifact';
import { requireStillGood } from '../auth.js';
import { commitOnce, keyOf } from '../commit-once.js';
import type { Run } from '../routes.js';
import { received, refuseOtherBodies } from './receive-upload.js';

/** Stores a file that a person uploads to a project. */
export const uploadArtifact: Run<typeof artifacts.uploadArtifact> = async (call) => {
  const { request, response, actor } = call;
  const { cell } = call.context;
  const { name, description } = call.query;
  const { project } = call.params;
  refuseOtherBodies(request, maxContentBytes);
  const content = new ContentStore(cell.directory.projectDir(project));
  const { sha256, sizeBytes } = await call.withProject((store) => received(request, store, content));
  requireStillGood(cell.catalog.tokens, response);
  const key = keyOf(request, response, { name, description, sha256 });
  const { answer } = await call.withProject((store) =>
    commitOnce(store, key, (tx) => {
      if (!content.has(sha256))
        throw new SuzumioError(
          'store-busy',
          'The file was removed while it came, by a redaction of the same; send it again.',
        );
      const path = content.pathOf(sha256);
      const { id } = publishArtifact(tx, { creator: USER_ID, actor, name, path, sha256, sizeBytes, description });
      const artifact = findArtifact(tx, { id });
      if (!artifact) throw new Error('a published artifact is not there');
      return { ...artifact };
    }),
  );
  call.locate(`/api/projects/${project}/artifacts/${answer.id}`);
  return answer;
};
