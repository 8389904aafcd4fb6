import { parentPort } from 'node:worker_threads';
import type { ErrorCode } from '@suzumio/shared/errors/codes';
import { type ErrorDetails, isSuzumioError } from '@suzumio/shared/errors/suzumio-error';
import type { ChatPurpose } from '@suzumio/shared/protocol/model-chat';
import { parseQuestion, type QuestionFacts } from './question.js';

// The entry of the thread that a QuestionReader has.

/** What the thread is given: its memory goes over with it. */
export interface ThreadJob {
  bytes: Uint8Array<ArrayBuffer>;
  purpose: ChatPurpose;
}

/** What comes back. The question is JSON again: bytes change threads for nothing, objects are copied one by one. */
export type ThreadAnswer =
  | { ok: true; facts: QuestionFacts; json: Uint8Array<ArrayBuffer> }
  | { ok: false; code: ErrorCode; message: string; details: ErrorDetails };

parentPort?.on('message', ({ bytes, purpose }: ThreadJob) => {
  const answer = answerTo(bytes, purpose);
  parentPort?.postMessage(answer, answer.ok ? [answer.json.buffer] : []);
});

function answerTo(bytes: Uint8Array, purpose: ChatPurpose): ThreadAnswer {
  try {
    const { request, ...facts } = parseQuestion(bytes, purpose);
    return { ok: true, facts, json: new TextEncoder().encode(JSON.stringify(request())) };
  } catch (error) {
    if (!isSuzumioError(error)) throw error;
    const { code, message, details } = error;
    return { ok: false, code, message, details };
  }
}
