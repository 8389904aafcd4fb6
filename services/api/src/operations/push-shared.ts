import { checkedPack } from '@suzumio/control-plane/packs/checked-pack';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { sharedRepository } from '@suzumio/contract/operations/shared-repository';
import { maxPackBytes } from '@suzumio/protocol/shared-repository';
import { ContentStore } from '@suzumio/store/content/content-store';
import { pushByPerson, requireTakesPushes } from '@suzumio/store/content/shared-pushes';
import { sharedPush } from '@suzumio/store/content/shared-repository';
import { requireStillGood } from '../auth.js';
import { commitOnce, refuseKey } from '../commit-once.js';
import type { Run } from '../routes.js';
import { received, refuseOtherBodies } from './receive-upload.js';

/** Stores a pack, for a push to name. */
export const uploadSharedPack: Run<(typeof sharedRepository)['uploadSharedPack']> = async (call) => {
  const { request, context, params } = call;
  refuseKey(request, 'The same pack is stored once');
  refuseOtherBodies(request, maxPackBytes);
  if (request.headers['content-length'] === undefined) {
    throw new SuzumioError('invalid-request', 'The length of a pack has to be said before it: send Content-Length.');
  }
  const content = new ContentStore(context.cell.directory.projectDir(params.project));
  return call.withProject((store) => {
    requireTakesPushes(store.reader, store.config);
    return received(request, store, content);
  });
};

/** Moves branches and tags for a person, with what a pack brings. */
export const pushShared: Run<(typeof sharedRepository)['pushShared']> = async (call) => {
  const { body, context, response, actor, key } = call;
  const { updates, pack } = body;
  const { answer } = await call.withProject(async (store) => {
    requireTakesPushes(store.reader, store.config);
    context.cell.disk.require('rows');
    const { project } = store;
    const checked = pack === undefined ? undefined : await checkedPack(context, { project, sha256: pack });
    // An inspection may take minutes.
    requireStillGood(context.cell.catalog.tokens, response);
    return commitOnce(store, key, (tx) => {
      const seq = pushByPerson(tx, { actor, updates, pack: checked });
      return { ...sharedPush(tx, seq) };
    });
  });
  return answer;
};
