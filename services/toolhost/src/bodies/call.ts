import { parse } from '@suzumio/runtime/http/validate';
import { toolRequest } from '@suzumio/protocol/runner';
import { canonicalToolName } from '@suzumio/protocol/tool-names';
import { type KeptInput, keptInput } from '@suzumio/store/turns/kept-input';
import { requestHash } from '@suzumio/store/journal';
import { uploadFacts } from '../tools/upload-facts.js';
import { jsonBody } from './json-body.js';

/** How many members the lists and objects of a call may have. */
const mostMembers = 20_000;

/** What there is to know of a call before it is made. */
export interface CallFacts {
  project: string;
  agent: string;
  turn: string;
  /** The name under which the tool is executed and recorded. */
  tool: string;
  /** The call's place; absent for a runner that names no steps. */
  step?: string | undefined;
  /** What of its input is kept for those who look at it later. */
  kept: KeptInput;
  /** By which the journal knows it. */
  requestHash: string;
}

/** A tool call, as it came in a body. */
export interface CallBody extends CallFacts {
  /** All of its input. Of a long call it is made now, and costs time: only for those that are really made. */
  input: () => unknown;
}

/**
 * Parses, checks and hashes the body of a tool call. Of one of 2 MiB that takes some tens of milliseconds.
 *
 * @throws SuzumioError `invalid-request`
 */
export function parseCall(bytes: Uint8Array): CallBody {
  const {
    project,
    agent,
    turn,
    tool: named,
    step,
    input,
  } = parse(toolRequest, jsonBody(bytes, mostMembers), 'tool call');
  const tool = canonicalToolName(named);
  return {
    project,
    agent,
    turn,
    tool,
    step,
    kept: keptInput(input),
    requestHash: requestHash(tool, withoutUploadFacts(tool, input)),
    input: () => input,
  };
}

/** What a runner sends along of what it uploaded is no part of what was asked: a file may be read again. */
function withoutUploadFacts(tool: string, input: unknown): unknown {
  if (tool !== 'artifacts.publish' || typeof input !== 'object' || input === null) return input;
  const facts: readonly string[] = uploadFacts;
  return Object.fromEntries(Object.entries(input).filter(([key]) => !facts.includes(key)));
}
