import { parse } from '@suzumio/runtime/http/validate';
import { maxCallMembers } from '@suzumio/protocol/door';
import { toolRequest } from '@suzumio/protocol/runner';
import { canonicalToolName } from '@suzumio/protocol/tool-names';
import { type KeptInput, keptInput } from '@suzumio/store/turns/kept-input';
import { requestHash } from '@suzumio/store/journal';
import { uploadFacts } from '../tools/upload-facts.js';
import { jsonBody } from './json-body.js';

/** The facts of a call that are needed before it is executed. */
export interface CallFacts {
  project: string;
  agent: string;
  turn: string;
  /** The name under which the tool is executed and recorded. */
  tool: string;
  /** The call's step; absent for a runner that names no steps. */
  step?: string | undefined;
  /** Its input as it is kept for later inspection. */
  kept: KeptInput;
  /** The hash by which the journal recognises it. */
  requestHash: string;
  /** The same of a script's call whose input names the attempt. */
  scriptHash?: string | undefined;
}

/** A tool call from a request's body. */
export interface CallBody extends CallFacts {
  /** The whole input. For a long call it is parsed on demand, which costs time. */
  input: () => unknown;
}

/**
 * Parses, checks and hashes the body of a tool call: some tens of milliseconds for one of 2 MiB.
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
    unfilled,
  } = parse(toolRequest, jsonBody(bytes, maxCallMembers), 'tool call');
  const tool = canonicalToolName(named);
  return {
    project,
    agent,
    turn,
    tool,
    step,
    kept: keptInput(input),
    requestHash: requestHash(tool, withoutUploadFacts(tool, input)),
    scriptHash: unfilled === undefined ? undefined : requestHash(tool, withoutUploadFacts(tool, unfilled)),
    input: () => input,
  };
}

/** Leaves out a runner's facts about its upload: a file may be read again, and differ. */
function withoutUploadFacts(tool: string, input: unknown): unknown {
  if (tool !== 'artifacts.publish' || typeof input !== 'object' || input === null) return input;
  const facts: readonly string[] = uploadFacts;
  return Object.fromEntries(Object.entries(input).filter(([key]) => !facts.includes(key)));
}
