import { parse } from '@suzumio/runtime/http/validate';
import { type ChatPurpose, chatRequest, type ChatRequest } from '@suzumio/protocol/model-chat';
import { requestHash } from '@suzumio/store/journal';
import { jsonBody } from './json-body.js';

/** Twenty thousand messages with some calls, and hundreds of tools, have fewer. */
const mostMembers = 200_000;

/** What there is to know of a question before it is asked. */
export interface QuestionFacts {
  /** The preset that is asked for. */
  model: string | undefined;
  /** Whether the answer is wanted in pieces. */
  stream: boolean;
  /** By which the journal knows it. */
  requestHash: string;
  /** The length of what is asked, in bytes of JSON. */
  askedBytes: number;
}

/** A question to a model, as it came in a body. */
export interface Question extends QuestionFacts {
  /** All of it. Of a long question it is made now, and costs time: only for those that are really asked. */
  request: () => ChatRequest;
}

/**
 * Parses, checks and hashes the body of a question. Of a hostile one of 16 MiB that takes most of a second.
 *
 * @throws SuzumioError `invalid-request`
 */
export function parseQuestion(bytes: Uint8Array, purpose: ChatPurpose): Question {
  const request = parse(chatRequest, jsonBody(bytes, mostMembers), 'question to a model');
  const asked = { messages: request.messages, tools: request.tools ?? [] };
  return {
    model: request.model,
    stream: request.stream,
    requestHash: requestHash(purpose, asked),
    askedBytes: Buffer.byteLength(JSON.stringify(asked)),
    request: () => request,
  };
}
