import { parentPort } from 'node:worker_threads';
import type { ErrorCode } from '@suzumio/contract/errors/codes';
import { type ErrorDetails, isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ChatPurpose } from '@suzumio/protocol/model-chat';
import { type CallFacts, parseCall } from './call.js';
import { parseQuestion, type QuestionFacts } from './question.js';

// The entry of a BodyReader's thread.

/** The facts of each kind of body. */
export interface FactsOf {
  question: QuestionFacts;
  call: CallFacts;
}

/** The thread's input; its memory is transferred. */
export type ThreadJob = { bytes: Uint8Array<ArrayBuffer> } & (
  | { kind: 'question'; purpose: ChatPurpose }
  | { kind: 'call' }
);

/**
 * The thread's result: the facts, and the model call or tool input as JSON. Transferring bytes between threads is free,
 * while objects are copied.
 */
export type ThreadAnswer =
  | { ok: true; facts: FactsOf[keyof FactsOf]; json: Uint8Array<ArrayBuffer> }
  | { ok: false; code: ErrorCode; message: string; details: ErrorDetails };

parentPort?.on('message', (job: ThreadJob) => {
  const answer = answerTo(job);
  parentPort?.postMessage(answer, answer.ok ? [answer.json.buffer] : []);
});

function answerTo(job: ThreadJob): ThreadAnswer {
  try {
    if (job.kind === 'call') {
      const { input, ...facts } = parseCall(job.bytes);
      return { ok: true, facts, json: json(input()) };
    }
    const { request, ...facts } = parseQuestion(job.bytes, job.purpose);
    return { ok: true, facts, json: json(request()) };
  } catch (error) {
    if (!isSuzumioError(error)) throw error;
    const { code, message, details } = error;
    return { ok: false, code, message, details };
  }
}

function json(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(value));
}
