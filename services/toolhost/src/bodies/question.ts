import { parse } from '@suzumio/runtime/http/validate';
import { withoutReference } from '@suzumio/protocol/conversation';
import {
  type AnswerReference,
  type ChatPurpose,
  chatRequest,
  type ChatRequest,
  type ReadAnswer,
} from '@suzumio/protocol/model-chat';
import { requestHash } from '@suzumio/store/journal';
import { type AskedImages, askedImages } from './asked-images.js';
import { jsonBody } from './json-body.js';

/** More than twenty thousand messages with calls, and hundreds of tools, have. */
const mostMembers = 200_000;

/** The facts of a model call that are needed before it is made. */
export interface QuestionFacts {
  /** The requested preset. */
  model: string | undefined;
  /** Whether the answer is to be streamed. */
  stream: boolean;
  /** The hash by which the journal recognises it. */
  requestHash: string;
  /** The length of the messages and tools, in bytes of JSON, without inline images. */
  askedBytes: number;
  images: AskedImages;
  /** The answers that its messages repeat, in their order. */
  answers: readonly AnswerReference[];
  /** What was made of the newest of them. */
  read: ReadAnswer | undefined;
}

/** A model call from a request's body. */
export interface Question extends QuestionFacts {
  /** The whole request. For a long one it is parsed on demand, which costs time. */
  request: () => ChatRequest;
}

/**
 * Parses, checks and hashes the body of a model call: most of a second for a hostile one of 16 MiB.
 *
 * @throws SuzumioError `invalid-request`
 */
export function parseQuestion(bytes: Uint8Array, purpose: ChatPurpose): Question {
  const request = parse(chatRequest, jsonBody(bytes, mostMembers), 'question to a model');
  // What a runner knows of an answer's attachments is no part of what it asks.
  const asked = { messages: request.messages.map(withoutReference), tools: request.tools ?? [] };
  const images = askedImages(request.messages);
  return {
    model: request.model,
    stream: request.stream,
    requestHash: requestHash(purpose, asked),
    askedBytes: Buffer.byteLength(JSON.stringify(asked)) - images.inlineChars,
    images,
    answers: request.messages.flatMap((message) => (message.role === 'assistant' && message.suzumio) || []),
    read: request.suzumio,
    request: () => request,
  };
}
