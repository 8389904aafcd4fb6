import { setImmediate as breathe } from 'node:timers/promises';
import express, { type Request, type Router } from 'express';
import { checkedPack } from '@suzumio/control-plane/packs/checked-pack';
import { ProjectTurns } from '@suzumio/protocol/project-turns';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { sha256 } from '@suzumio/protocol/ids';
import {
  maxListedPacks,
  maxPackBytes,
  pushPath,
  type PushRequest,
  pushRequest,
  type SharedState,
} from '@suzumio/protocol/shared-repository';
import { parse } from '@suzumio/runtime/http/validate';
import { isPushed, sharedPacks, sharedRefs } from '@suzumio/store/content/shared-repository';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { authorizeTool } from '@suzumio/store/turns/authorize';
import { keptInput } from '@suzumio/store/turns/kept-input';
import { isPackOfTurn } from '@suzumio/store/turns/upstream-looks';
import { requirePushable } from '@suzumio/store/content/shared-pushes';
import { findPush, pushRights, pushToShared, requireRoom } from '@suzumio/store/turns/push-to-shared';
import { attemptTokenOf, type PresentedToken, requireRunner, senderOf } from './auth.js';
import { refuseCall } from './call-tool.js';
import { closeOf } from './bodies/close-of.js';
import { jsonBody } from './bodies/json-body.js';
import { sendContent, storeContent } from './content.js';
import type { ToolhostContext } from './context.js';
import { countUnreadable } from './count-unreadable.js';

/** The largest push: fifty references with long names. */
const maxPushBytes = 64 * 1024;
const mostMembers = 1_000;

const wholeNumber = /^\d{1,15}$/;

/**
 * The repository that a project's agents share, for their runners, and what is new where their clones come from. Git does not run
 * here: packs are stored as they came once they were inspected, and references are rows.
 */
export function gitRouter(context: ToolhostContext): Router {
  const router = express.Router();
  const states = new ProjectTurns();

  router.get('/git', async (request, response) => {
    const { after = '0' } = request.query;
    if (typeof after !== 'string' || !wholeNumber.test(after)) {
      throw new SuzumioError('invalid-request', 'after: expected the number of a push, or 0.');
    }
    const { project } = await requireRunner(context, request);
    // A state may be long, and nothing counts how often it is asked for: other requests are answered between two of them.
    await states.take(project, async () => {
      if (response.destroyed) return;
      response.json(await using(context, request, ({ store }) => stateOf(store, Number(after))));
      await breathe();
    });
  });

  router
    .route('/git/packs/:sha256')
    .get((request, response) =>
      ofAttempt(context, request, async ({ store, agent, turn }) => {
        const hash = parse(sha256, request.params.sha256, 'content hash');
        if (!isPackOfTurn(store.reader, turn, hash)) {
          pushRights(store.reader, store, { agent, turn });
          if (!isPushed(store.reader, hash)) throw new SuzumioError('not-found', `No push has brought a pack ${hash}.`);
        }
        await sendContent(context, store.project, hash, false, response);
      }),
    )
    .put((request, response) =>
      using(context, request, async ({ store, agent }) => {
        if (!(Number(request.headers['content-length']) <= maxPackBytes)) {
          throw new SuzumioError(
            'body-too-large',
            `A push may have ${String(maxPackBytes)} bytes at most: push its history in parts.`,
          );
        }
        await storeContent(context, store, { owner: agent, kind: 'content' }, request, response);
      }),
    );

  router.post(pushPath, async (request, response) => {
    const token = await requireRunner(context, request);
    const body = await context.bodies.receive(request, senderOf(token), maxPushBytes, closeOf(response));
    const asked = parse(pushRequest, jsonBody(body, mostMembers), 'push');
    response.json(await using(context, request, (of) => takePush(context, token, asked, of)));
  });

  router.use(countUnreadable(context));
  return router;
}

/** @throws SuzumioError `forbidden`, and what the checks of a push throw; a reference that it may not change is a refused call */
async function takePush(
  context: ToolhostContext,
  token: PresentedToken,
  { project, agent: named, turn, pack, ...push }: PushRequest,
  { store, agent }: { store: ProjectStore; agent: string },
) {
  if (project !== token.project || turn !== token.turn || named !== agent) {
    throw new SuzumioError('forbidden', 'A token is good for its own turn only, and this push names another.');
  }
  const before = findPush(store.reader, turn, push);
  if (before !== undefined) return { push: before };
  // Before anything is read for it, and again in the transaction.
  requireRoom(store.reader, store, agent, turn);
  try {
    for (const rights of pushRights(store.reader, store, { agent, turn })) {
      requirePushable(store.reader, rights, push.updates);
    }
  } catch (error) {
    if (!isSuzumioError(error, 'git-ref-refused')) throw error;
    const input = keptInput(push.updates);
    const call = { ...token, agent, step: undefined, tool: 'git.push', input, requestHash: '' };
    return await refuseCall(context, store, call, error.code, error.message);
  }
  context.cell.disk.require('rows');
  const { attempt } = senderOf(token);
  const checked = pack === undefined ? undefined : await checkedPack(context, { project, sha256: pack, attempt });
  return { push: await store.write((tx) => pushToShared(tx, token, push, checked)) };
}

/**
 * Runs `work` for a running attempt in a project that shares a repository.
 *
 * @throws SuzumioError `unauthenticated`, `token-rejected`, `git-not-shared`
 */
async function using<Result>(
  context: ToolhostContext,
  request: Request,
  work: (of: { store: ProjectStore; agent: string }) => Promise<Result> | Result,
): Promise<Result> {
  return ofAttempt(context, request, (of) => {
    pushRights(of.store.reader, of.store, of);
    return work(of);
  });
}

/**
 * Runs `work` for a running attempt.
 *
 * @throws SuzumioError `unauthenticated`, `token-rejected`
 */
async function ofAttempt<Result>(
  context: ToolhostContext,
  request: Request,
  work: (of: { store: ProjectStore; agent: string; turn: string }) => Promise<Result> | Result,
): Promise<Result> {
  const token = attemptTokenOf(request, 'tool', context.cell.id);
  return context.cell.stores.use(token.project, async (store) => {
    const { agent } = authorizeTool(store.reader, token);
    return work({ store, agent, turn: token.turn });
  });
}

function stateOf({ reader }: ProjectStore, after: number): SharedState {
  const packs = sharedPacks(reader, after, maxListedPacks + 1);
  return {
    refs: sharedRefs(reader),
    packs: packs
      .slice(0, maxListedPacks)
      .map(({ push, sha256: hash, sizeBytes }) => ({ push, sha256: hash, sizeBytes })),
    more: packs.length > maxListedPacks,
  };
}
