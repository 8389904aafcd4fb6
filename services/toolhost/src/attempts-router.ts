import express, { type Request, type Router } from 'express';
import { jsonBodies } from '@suzumio/runtime/http/json-bodies';
import { parse } from '@suzumio/runtime/http/validate';
import {
  captureRequest,
  type ClaimAnswer,
  claimRequest,
  completeRequest,
  failRequest,
  type GoneProjects,
  goneProjects,
  markRequest,
  maxLogBytes,
  type MeasureAnswer,
} from '@suzumio/protocol/attempts';
import { type LiveAnswer, liveReport, maxLiveBytes } from '@suzumio/protocol/live';
import { maxTrackedBytes } from '@suzumio/protocol/ignored-roots';
import { inBlocks } from '@suzumio/protocol/disk-blocks';
import { type LookAnswer, lookReport, workspaceBase } from '@suzumio/protocol/repository';
import { maxOutputBytes } from '@suzumio/protocol/runner';
import { projectId, turnId } from '@suzumio/protocol/ids';
import { externalEngine } from '@suzumio/protocol/handlers';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { type AttemptRow, turnRow } from '@suzumio/store/rows';
import { removeTurnLog, turnLogBytes, writeTurnLog } from '@suzumio/store/content/turn-logs';
import { recordCapture } from '@suzumio/store/turns/captures';
import { completeTurn } from '@suzumio/store/turns/complete-turn';
import { extendLease, isFresh, isOverTime } from '@suzumio/store/turns/leases';
import { failAttempt } from '@suzumio/store/turns/fail-attempt';
import { configOfTurn } from '@suzumio/store/turns/turn-config';
import { markSteps } from '@suzumio/store/turns/sandbox-steps';
import { recordLook } from '@suzumio/store/turns/upstream-looks';
import { recordBase } from '@suzumio/store/turns/workspace-base';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { assertRunning, authorizeLease, rejected } from '@suzumio/store/turns/authorize';
import { claimRoute, type PresentedToken, requireWorker, withLease } from './auth.js';
import { claim, counted } from './claim.js';
import { contentOf, sendContent, storeContent } from './content.js';
import { countChanges } from './count-changes.js';
import type { ToolhostContext } from './context.js';
import { leftArtifacts } from './left-artifacts.js';
import { toMeasure } from './sandbox-seen.js';

/** How long after its end an attempt's log is accepted. */
const logGraceMs = 60_000;

/** Room for as many steps as one request may name. */
const maxNamedStepsBytes = 128 * 1024;

const goneRoute = '/projects/gone';

/** The routes for workers: see `protocol/attempts.ts`. */
export function attemptsRouter(context: ToolhostContext): Router {
  const router = express.Router();
  const attempt = '/projects/:project/turns/:turn/attempts/:attempt';
  router.use('/projects/:project/turns/:turn{/*rest}', (request, _response, next) => {
    parse(projectId, request.params.project, 'project');
    parse(turnId, request.params.turn, 'turn');
    next();
  });

  router.post(claimRoute, jsonBodies(16 * 1024), async (request, response) => {
    const credential = await requireWorker(context, request, claimRoute);
    const body = parse(claimRequest, request.body, 'claim');
    // Its first capture would fail.
    context.cell.disk.require('files');
    const { project, turn } = request.params;
    const answer = await context.cell.stores.use(project, async (store) => {
      const row = turnRow(store.reader, turn);
      const measure = toMeasure(store, row, body);
      if (measure) return { measure } satisfies MeasureAnswer;
      const claimed = await counted(context, () => claim(context, store, row, { ...body, credential }));
      return claimed.answer satisfies ClaimAnswer;
    });
    response.json(answer);
  });

  router.post(goneRoute, jsonBodies(256 * 1024), async (request, response) => {
    await requireWorker(context, request, goneRoute);
    const { projects } = parse(goneProjects, request.body, 'list of projects');
    const { deletions } = context.cell.catalog;
    const gone = projects.filter(({ project, epoch }) => deletions.includes(project, epoch));
    response.json({ projects: gone } satisfies GoneProjects);
  });

  router.post(`${attempt}/heartbeat`, async (request, response) => {
    response.json(
      await withLease(context, request, async (store, attempt, token) => {
        const followed = context.live.isFollowed(token) ? { followed: true } : {};
        // Most heartbeats find enough of the lease left, and cost a read.
        const nowMs = context.cell.context.now();
        const leftMs = attempt.lease_until_ms - nowMs;
        const due =
          !isFresh(leftMs, context.leaseMs) ||
          isOverTime(configOfTurn(store.reader, store, token.turn), attempt, nowMs);
        if (attempt.status === 'running' && !due) return { leaseMs: leftMs, cancel: false, ...followed };
        const answer = await store.write((tx) => extendLease(tx, token, context.leaseMs));
        // It may have ended just now.
        if (answer.cancel) {
          context.live.end(token);
          context.transport.wake(store.project);
        }
        return { ...answer, ...followed };
      }),
    );
  });

  router.post(`${attempt}/capture`, jsonBodies(maxNamedStepsBytes), async (request, response) => {
    await withLease(context, request, async (store, row, token) => {
      const capture = parse(captureRequest, request.body, 'capture');
      assertRunning(row, token);
      requireWorkspace(row);
      context.cell.disk.require('rows');
      await requireStored(context, store.project, capture.snapshot);
      await store.write((tx) => recordCapture(tx, token, capture));
    });
    response.status(204).end();
  });

  router.post(`${attempt}/mark`, jsonBodies(maxNamedStepsBytes), async (request, response) => {
    await withLease(context, request, async (store, _row, token) => {
      const { steps } = parse(markRequest, request.body, 'list of steps');
      await store.write((tx) => markSteps(tx, token, steps));
    });
    response.status(204).end();
  });

  router.post(`${attempt}/live`, jsonBodies(maxLiveBytes), async (request, response) => {
    response.json(
      await withLease(context, request, (_store, row, token): Promise<LiveAnswer> => {
        const report = parse(liveReport, request.body, 'report');
        assertRunning(row, token);
        context.live.output(token, report);
        return Promise.resolve({ followed: context.live.isFollowed(token) });
      }),
    );
  });

  router.post(`${attempt}/complete`, jsonBodies(maxOutputBytes + 65_536), async (request, response) => {
    response.json(
      await withLease(context, request, async (store, row, token) => {
        const report = parse(completeRequest, request.body, 'report');
        if (report.snapshot !== undefined) {
          requireWorkspace(row);
          // A repeated report may come when another turn's snapshot is the agent's.
          if (row.status === 'running') await requireStored(context, store.project, report.snapshot);
        }
        const counted = await countChanges(context, store, row, report.snapshot);
        const artifacts = await leftArtifacts(context, store, row, report.snapshot);
        const ended = await store.write((tx) => completeTurn(tx, token, report, counted, artifacts));
        context.live.end(token);
        context.transport.wake(store.project);
        return ended;
      }),
    );
  });

  router.post(`${attempt}/fail`, jsonBodies(64 * 1024), async (request, response) => {
    response.json(
      await withLease(context, request, async (store, _row, token) => {
        const report = parse(failRequest, request.body, 'report');
        const ended = await store.write((tx) => failAttempt(tx, token, report));
        context.live.end(token);
        context.transport.wake(store.project);
        return ended;
      }),
    );
  });

  router.put(`${attempt}/log`, express.raw({ type: () => true, limit: maxLogBytes }), async (request, response) => {
    await withLease(context, request, async (store, row, token) => {
      const directory = context.cell.directory.projectDir(token.project);
      const before = await turnLogBytes(directory, row);
      requireLogDue(row, context.cell.context.now(), before ?? 0);
      const log = bodyBytes(request);
      await store.content.chargeLog(
        agentOf(store, row),
        inBlocks(log.length) - (before === undefined ? 0 : inBlocks(before)),
      );
      await writeTurnLog(directory, row, log);
      await requireLogStillDue(store, directory, row, token);
    });
    response.status(204).end();
  });

  router.put(`${attempt}/base`, jsonBodies(2 * maxTrackedBytes), async (request, response) => {
    await withLease(context, request, async (store, row, token) => {
      assertRunning(row, token);
      requireWorkspace(row);
      const base = parse(workspaceBase, request.body, 'base');
      await requireStored(context, store.project, base.snapshot);
      await store.write((tx) => recordBase(tx, configOfTurn(tx, tx, token.turn), token, base));
    });
    response.status(204).end();
  });

  router.put(`${attempt}/upstream`, jsonBodies(128 * 1024), async (request, response) => {
    response.json(
      await withLease(context, request, async (store, row, token): Promise<LookAnswer> => {
        assertRunning(row, token);
        requireWorkspace(row);
        const look = parse(lookReport, request.body, 'look');
        if ('pack' in look && look.pack) await requireStored(context, store.project, look.pack.sha256, 'The pack');
        const upstream = await store.write((tx) => recordLook(tx, configOfTurn(tx, tx, token.turn), token, look));
        return upstream ? { upstream } : {};
      }),
    );
  });

  router
    .route(`${attempt}/content/:sha256`)
    .get(async (request, response) => {
      await withLease(context, request, (_store, row, token) => {
        assertRunning(row, token);
        requireWorkspace(row);
        return sendContent(context, token.project, request.params['sha256'], request.method === 'HEAD', response);
      });
    })
    .put(async (request, response) => {
      await withLease(context, request, (store, row, token) => {
        assertRunning(row, token);
        requireWorkspace(row);
        const by = { owner: agentOf(store, row), kind: 'snapshots' } as const;
        return storeContent(context, store, by, request, response);
      });
    });
  return router;
}

/**
 * A handler has no workspace: its lease token gives no access to content.
 *
 * @throws SuzumioError `token-rejected`
 */
function requireWorkspace({ engine }: AttemptRow): void {
  if (engine === externalEngine) throw rejected();
}

function agentOf(store: ProjectStore, attempt: AttemptRow): string {
  return turnRow(store.reader, attempt.turn_id).agent_id;
}

/**
 * A snapshot is stored before a row refers to it, and is not collected before that.
 *
 * @throws SuzumioError `content-missing`
 */
async function requireStored(
  context: ToolhostContext,
  project: string,
  sha256: string | null,
  what = 'The manifest of the snapshot',
): Promise<void> {
  if (sha256 === null || (await contentOf(context, project).renew(sha256)) !== undefined) return;
  throw new SuzumioError('content-missing', `${what} ${sha256} has not been stored.`);
}

/**
 * Accepts an attempt's log shortly after its end, once: the log of a finished attempt is evidence, and is never
 * overwritten.
 *
 * @throws SuzumioError `attempt-over`
 */
function requireLogDue(row: AttemptRow, nowMs: number, keptBytes: number): void {
  if (keptBytes === 0 && nowMs - (row.ended_at_ms ?? nowMs) <= logGraceMs) return;
  assertRunning(row, { turn: row.turn_id, attempt: row.number });
}

/**
 * Removes a log again whose attempt came to know something that was redacted while the log was written.
 *
 * @throws SuzumioError `token-rejected`
 */
async function requireLogStillDue(
  store: ProjectStore,
  directory: string,
  row: AttemptRow,
  token: PresentedToken,
): Promise<void> {
  try {
    authorizeLease(store.reader, token);
  } catch (error) {
    await removeTurnLog(directory, row);
    throw error;
  }
}

function bodyBytes(request: Request): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}
