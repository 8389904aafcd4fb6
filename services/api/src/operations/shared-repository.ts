import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { sharedRepository } from '@suzumio/contract/operations/shared-repository';
import { defaultBranch, type SharedState } from '@suzumio/protocol/shared-repository';
import { sendFile } from '@suzumio/runtime/http/send-file';
import { ContentStore } from '@suzumio/store/content/content-store';
import {
  listSharedPushes,
  listSharedRefs,
  type SharedPack,
  sharedPackSize,
  sharedPacks,
  sharedRefs,
} from '@suzumio/store/content/shared-repository';
import type { OpenAccess } from '../open-access.js';
import type { Runs } from '../routes.js';
import { getSharedDiff } from './get-shared-diff.js';
import { pushShared, uploadSharedPack } from './push-shared.js';
import { requireWhole } from './send-content.js';

/** Of a pack, what stands before its objects and after them. */
const headerBytes = 12;
const trailerBytes = 20;

export const sharedRepositoryRuns = (access: OpenAccess): Runs<typeof sharedRepository> => ({
  listSharedRefs: (call) => call.read((reader) => ({ items: listSharedRefs(reader) })),

  listSharedPushes: (call) => call.read((reader) => listSharedPushes(reader, call.query)),

  uploadSharedPack,

  async getSharedPack(call) {
    const { request, response, context } = call;
    const { project, pack: sha256 } = call.params;
    const sizeBytes = await call.read((reader) => sharedPackSize(reader, sha256));
    if (sizeBytes === undefined) {
      throw new SuzumioError(
        'git-pack-unknown',
        `No push to the shared repository of ${project} has brought ${sha256}.`,
      );
    }
    const content = new ContentStore(context.cell.directory.projectDir(project));
    await requireWhole(content, { sha256, sizeBytes });
    response.attachment(`${sha256}.pack`).type('application/octet-stream').set('content-length', String(sizeBytes));
    if (request.method === 'HEAD') response.end();
    else await sendFile(response, content.read(sha256));
    return undefined;
  },

  pushShared,

  async getSharedBundle(call) {
    const { project } = call.params;
    const { ref: wanted } = call.query;
    const { refs, packs } = await call.read((reader) => ({
      refs: sharedRefs(reader).filter(({ ref }) => wanted === undefined || ref === wanted),
      packs: sharedPacks(reader, 0, Number.MAX_SAFE_INTEGER),
    }));
    if (refs.length === 0) {
      const message =
        wanted === undefined
          ? `The shared repository of ${project} has no branches and tags yet.`
          : `The shared repository of ${project} has no ${wanted}: expected the whole name of a branch or tag, such as ${defaultBranch} (suzumio git refs ${project}).`;
      throw new SuzumioError('git-ref-unknown', message);
    }
    const content = new ContentStore(call.context.cell.directory.projectDir(project));
    // Agents chose what is in it: a browser must save it, and neither show nor run it.
    call.response.attachment(`${project}.bundle`).type('application/x-git-bundle');
    await pipeline(Readable.from(bundle(content, refs, packs), { objectMode: false }), call.response);
    return undefined;
  },

  getSharedDiff: (call) => getSharedDiff(call, access),
});

/**
 * A bundle of all packs as one. Git does not run here: no pack needs another, so that their objects, one after the other, are a pack.
 *
 * @throws SuzumioError `store-corrupt`
 */
async function* bundle(
  content: ContentStore,
  refs: SharedState['refs'],
  packs: readonly SharedPack[],
): AsyncGenerator<Buffer> {
  const head = refs.find(({ ref }) => ref === defaultBranch);
  const named = [...(head ? [{ ref: 'HEAD', id: head.id }] : []), ...refs];
  yield Buffer.from(['# v2 git bundle', ...named.map(({ ref, id }) => `${id} ${ref}`), '', ''].join('\n'));
  const hash = createHash('sha1');
  const header = Buffer.alloc(headerBytes, 'PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(
    packs.reduce((sum, { objects }) => sum + objects, 0),
    8,
  );
  hash.update(header);
  yield header;
  for (const { push, sha256, sizeBytes } of packs) {
    if ((await content.sizeOf(sha256)) !== sizeBytes) {
      throw new SuzumioError(
        'store-corrupt',
        `What push ${push} has brought is missing or has another size than it had.`,
      );
    }
    // The end of a range is its last byte.
    for await (const bytes of content.read(sha256, { start: headerBytes, end: sizeBytes - trailerBytes - 1 })) {
      hash.update(bytes as Buffer);
      yield bytes as Buffer;
    }
  }
  yield hash.digest();
}
