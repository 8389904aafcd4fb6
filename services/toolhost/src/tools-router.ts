import express, { type Request, type Response, type Router } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { maxCallBytes } from '@suzumio/protocol/door';
import { maxImageBytes } from '@suzumio/protocol/images';
import { stepHeader } from '@suzumio/protocol/model-chat';
import { maxStepResultBytes } from '@suzumio/protocol/sandbox-steps';
import { supportPath, supportRequest } from '@suzumio/protocol/toolpacks/support';
import { parse } from '@suzumio/runtime/http/validate';
import { authorizeTool } from '@suzumio/store/turns/authorize';
import { toolsInTurn } from '@suzumio/store/turns/tools-in-turn';
import { keptInput } from '@suzumio/store/turns/kept-input';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { isPublished } from '@suzumio/store/content/artifacts';
import { attemptTokenOf, senderOf, type PresentedToken, requireRunner } from './auth.js';
import type { CallBody } from './bodies/call.js';
import { inRoom } from './bodies/close-of.js';
import { jsonBody } from './bodies/json-body.js';
import { callTool, refuseCall } from './call-tool.js';
import { beginStep, endStep } from './sandbox-steps.js';
import { sendContent, storeContent } from './content.js';
import type { ToolhostContext } from './context.js';
import { countUnreadable } from './count-unreadable.js';
import { support } from './toolpacks/support.js';
import { uncapturedIn } from './uncaptured-in.js';

/** How many members the lists and objects of a call may have. */
const mostMembers = 20_000;

/** The routes for runners, reached through their worker's door. */
export function toolsRouter(context: ToolhostContext): Router {
  const router = express.Router();

  /** Reads a tool's call, and has it answered when it is its turn. */
  const onCall =
    (answer: (token: PresentedToken, call: CallBody, request: Request, response: Response) => Promise<void>) =>
    (request: Request, response: Response) =>
      inRoom(response, async (room) => {
        const token = await requireRunner(context, request);
        const body = await context.bodies.receive(request, senderOf(token), maxCallBytes, room.until);
        const call = await context.reader.call(senderOf(token), body, room.until);
        room.keep();
        await context.longAnswers.send(response, token, call, () => answer(token, call, request, response));
      });

  router.post(
    '/tool',
    onCall(async (token, call, request, response) => {
      response.json(await callTool(context, token, call, uncapturedIn(request)));
    }),
  );

  router.post(
    '/tool/begin',
    onCall(async (token, call, _request, response) => {
      const begun = await beginStep(context, token, call);
      // For the worker's door, which reads no bodies.
      if ('begun' in begun) response.set(stepHeader, call.step);
      response.json(begun);
    }),
  );

  router.post('/tool/end', (request, response) =>
    inRoom(response, async (room) => {
      const token = await requireRunner(context, request);
      const body = await context.bodies.receive(request, senderOf(token), maxStepResultBytes, room.until);
      room.keep();
      const { step, ...ended } = await endStep(context, token, body);
      response.set(stepHeader, step).json(ended);
    }),
  );

  router.post(supportPath, (request, response) =>
    inRoom(response, async (room) => {
      const token = await requireRunner(context, request);
      const body = await context.bodies.receive(request, senderOf(token), maxCallBytes, room.until);
      room.keep();
      response.json(await support(context, token, parse(supportRequest, jsonBody(body, mostMembers), 'call')));
    }),
  );

  router
    .route('/content/:sha256')
    .get(async (request, response) => {
      const token = attemptTokenOf(request, 'tool', context.cell.id);
      const { sha256 } = request.params;
      await context.cell.stores.use(token.project, async (store) => {
        await requireReadable(context, store, token, sha256);
        await sendContent(context, token.project, sha256, request.method === 'HEAD', response);
      });
    })
    .put(async (request, response) => {
      const token = attemptTokenOf(request, 'tool', context.cell.id);
      await context.cell.stores.use(token.project, async (store) => {
        const owner = await requireUpload(context, store, token, request);
        await storeContent(context, store, { owner, kind: 'content' }, request, response);
      });
    });
  router.use(countUnreadable(context));
  return router;
}

/**
 * Allows a turn to fetch what `artifacts.read` shows and `file.apply` applies: published content, and nothing else.
 *
 * @throws SuzumioError `token-rejected`, `tool-not-allowed`, `not-found`
 */
async function requireReadable(
  context: ToolhostContext,
  store: ProjectStore,
  token: PresentedToken,
  sha256: string,
): Promise<void> {
  const { agent } = authorizeTool(store.reader, token);
  if (!toolsInTurn(store.reader, store, { agent, turn: token.turn }).includes('file.apply')) {
    await requireTool(context, store, token, 'artifacts.read', sha256);
  }
  if (!isPublished(store.reader, sha256)) {
    throw new SuzumioError('not-found', 'Nothing with this content has been published in this project.');
  }
}

/**
 * Allows a turn to upload what it publishes, and an image that it is about to show its model.
 *
 * @returns the agent that uploads it
 * @throws SuzumioError `token-rejected`, `tool-not-allowed`
 */
async function requireUpload(
  context: ToolhostContext,
  store: ProjectStore,
  token: PresentedToken,
  { params, headers }: Request<{ sha256: string }>,
): Promise<string> {
  const { agent } = authorizeTool(store.reader, token);
  const mayBeImage = Number(headers['content-length'] ?? Infinity) <= maxImageBytes;
  if (mayBeImage && toolsInTurn(store.reader, store, { agent, turn: token.turn }).includes('file.read')) return agent;
  return requireTool(context, store, token, 'artifacts.publish', params.sha256);
}

/**
 * Allows content to agents that have the tool which reads or writes it.
 *
 * @returns the agent that may use it
 * @throws SuzumioError `token-rejected`, `tool-not-allowed`
 */
async function requireTool(
  context: ToolhostContext,
  store: ProjectStore,
  token: PresentedToken,
  tool: 'artifacts.publish' | 'artifacts.read',
  sha256: string,
): Promise<string> {
  const { agent } = authorizeTool(store.reader, token);
  if (toolsInTurn(store.reader, store, { agent, turn: token.turn }).includes(tool)) return agent;
  const does = tool === 'artifacts.read' ? 'fetch' : 'upload';
  const message = `Agent ${agent} may not use ${tool}, so it may ${does} no content.`;
  const call = { ...token, agent, tool, input: keptInput({ sha256 }), requestHash: '' };
  return refuseCall(context, store, call, 'tool-not-allowed', message);
}
