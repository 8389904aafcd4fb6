import express, { type Request, type Router } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { projectId, sha256 } from '@suzumio/protocol/ids';
import {
  type ComparisonClaim,
  comparisonClaim,
  comparisonEnd,
  type ComparisonGranted,
  maxComparisonBytes,
} from '@suzumio/protocol/repository-diff';
import { jsonBodies } from '@suzumio/runtime/http/json-bodies';
import { parse } from '@suzumio/runtime/http/validate';
import { claimDiff, endDiff, requireClaimed } from '@suzumio/store/content/repository-diffs';
import { isPushed } from '@suzumio/store/content/shared-repository';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { projectRow } from '@suzumio/store/rows';
import { requireWorker } from './auth.js';
import { sendContent } from './content.js';
import type { ToolhostContext } from './context.js';

const route = '/projects/:project/repository-diffs/:diff';

/** The routes of workers that compare commits: see `protocol/repository-diff.ts`. */
export function comparisonsRouter(context: ToolhostContext): Router {
  const router = express.Router();

  router.post(`${route}/claim`, jsonBodies(1024), async (request, response) => {
    await requireWorker(context, request, `${route}/claim`);
    const claim = parse(comparisonClaim, request.body, 'claim');
    response.json(
      await using(context, request, claim, (store, diff): Promise<ComparisonGranted> =>
        store.write((tx) => claimDiff(tx, diff, claim.claim)),
      ),
    );
  });

  router.get(`${route}/packs/:sha256`, async (request, response) => {
    await requireWorker(context, request, `${route}/packs/:sha256`);
    const { epoch, claim } = request.query;
    const shown = parse(comparisonClaim, { epoch: Number(epoch), claim }, 'query');
    await using(context, request, shown, (store, diff) => {
      requireClaimed(store.reader, diff, shown.claim);
      const hash = parse(sha256, request.params['sha256'], 'content hash');
      if (!isPushed(store.reader, hash)) throw new SuzumioError('not-found', `No push has brought a pack ${hash}.`);
      return sendContent(context, store.project, hash, false, response);
    });
  });

  router.post(`${route}/end`, jsonBodies(maxComparisonBytes), async (request, response) => {
    await requireWorker(context, request, `${route}/end`);
    const { claim, epoch, outcome } = parse(comparisonEnd, request.body, 'end');
    await using(context, request, { claim, epoch }, async (store, diff) => {
      context.cell.disk.require('rows');
      await store.write((tx) => endDiff(tx, diff, claim, outcome));
    });
    response.status(204).end();
  });

  return router;
}

/**
 * Runs `work` on a comparison of the project that was asked.
 *
 * @throws SuzumioError `project-unknown`; `claim-refused` where the project is another one
 *   of its name
 */
async function using<Result>(
  context: ToolhostContext,
  request: Request,
  { epoch }: ComparisonClaim,
  work: (store: ProjectStore, diff: number) => Promise<Result>,
): Promise<Result> {
  const project = parse(projectId, request.params['project'], 'project');
  const diff = Number(request.params['diff']);
  return context.cell.stores.use(project, (store) => {
    if (projectRow(store.reader).epoch !== epoch || !Number.isSafeInteger(diff)) {
      throw new SuzumioError('claim-refused', 'The project was deleted, and another one has its name.');
    }
    return work(store, diff);
  });
}
