import express, { type ErrorRequestHandler, type Response, type Router } from 'express';
import { toProblem } from '@suzumio/contract/errors/problem';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { presetsFor } from '@suzumio/core/budgets/presets';
import { externalEngine } from '@suzumio/protocol/handlers';
import { parse } from '@suzumio/runtime/http/validate';
import { questionStep } from '@suzumio/protocol/ids';
import {
  chatPath,
  chatPurpose,
  maxChatBytes,
  modelsPath,
  purposeHeader,
  stepHeader,
} from '@suzumio/protocol/model-chat';
import { authorizeTool, rejected } from '@suzumio/store/turns/authorize';
import { configOfTurn } from '@suzumio/store/turns/turn-config';
import { attemptRow } from '@suzumio/store/rows';
import { attemptTokenOf, type PresentedToken, requireRunner, senderOf } from './auth.js';
import { inRoom } from './bodies/close-of.js';
import type { Question } from './bodies/question.js';
import type { ToolhostContext } from './context.js';
import { countUnreadable } from './count-unreadable.js';
import { AnswerStream, completionOf } from './gateway/answer-stream.js';
import { type AskedPlace, type Asker, callModel } from './gateway/call-model.js';
import { uncapturedIn } from './uncaptured-in.js';

/** The model gateway for runners, in the format of OpenAI's Chat Completions. */
export function modelsRouter(context: ToolhostContext): Router {
  const router = express.Router();

  router.post(chatPath, (request, response) =>
    inRoom(response, async (room) => {
      const token = await requireRunner(context, request);
      const named = request.get(stepHeader);
      const step = named === undefined ? undefined : parse(questionStep, named, stepHeader);
      const purpose = parse(chatPurpose, request.get(purposeHeader) ?? 'turn', purposeHeader);
      const uncaptured = uncapturedIn(request);
      const body = await context.bodies.receive(request, senderOf(token), maxChatBytes, room.until);
      const asked = await context.reader.question(senderOf(token), body, purpose, room.until);
      room.keep();
      await context.longAnswers.send(response, token, { step }, () =>
        answer(token, { step, purpose, uncaptured }, asked, response),
      );
    }),
  );

  async function answer(token: PresentedToken, place: AskedPlace, asked: Question, response: Response): Promise<void> {
    const id = `chatcmpl-${token.turn}-${place.step ?? 'seq'}`;
    const stream = new AnswerStream(response, id);
    const asker: Asker = {
      get gone() {
        return response.destroyed;
      },
      onText(text) {
        if (asked.stream) stream.text(text);
      },
    };
    try {
      const { result, reference, reading } = await callModel(context, token, place, asked, asker);
      if (!result.ok) throw new SuzumioError(result.code, result.message);
      const received = { ...result.answer, ...(reference === undefined ? {} : { reference, reading }) };
      if (asked.stream) stream.end(received);
      else response.json(completionOf(received, id));
    } catch (error) {
      // Too late for a status: the runner repeats the call, and gets the error then.
      if (response.headersSent) response.destroy();
      else throw error;
    }
  }

  router.get(modelsPath, async (request, response) => {
    response.json(await listModels(context, attemptTokenOf(request, 'tool', context.cell.id)));
  });
  router.use(countUnreadable(context));
  router.use([chatPath, modelsPath], inTheirWords);
  return router;
}

/** Clients of Chat Completions expect errors below `error`. */
const inTheirWords: ErrorRequestHandler = (thrown: unknown, _request, response, next) => {
  if (!isSuzumioError(thrown) || thrown.status >= 500) {
    next(thrown);
    return;
  }
  const problem = toProblem(thrown);
  const { code, detail: message } = problem;
  response.status(problem.status).json({ ...problem, error: { message, type: 'suzumio', code, problem } });
};

/**
 * The presets that an attempt may call, as the list of models that clients of Chat Completions expect.
 *
 * @throws SuzumioError `token-rejected`
 */
async function listModels({ cell }: ToolhostContext, token: PresentedToken): Promise<object> {
  return cell.stores.use(token.project, (store) => {
    const { agent } = authorizeTool(store.reader, token);
    // Handlers call models of their own.
    if (attemptRow(store.reader, token.turn, token.attempt)?.engine === externalEngine) throw rejected();
    const models = presetsFor(configOfTurn(store.reader, store, token.turn), agent).map((id) => ({
      id,
      object: 'model',
      created: 0,
      owned_by: 'suzumio',
    }));
    return Promise.resolve({ object: 'list', data: models });
  });
}
