import { meantInput } from '@suzumio/protocol/checked-input';
import { type HandedArtifact, handedArtifact, writtenText } from '@suzumio/protocol/artifacts';
import type { Repository } from '@suzumio/protocol/repository';
import { stepHeader } from '@suzumio/protocol/model-chat';
import { type ToolDefinition, type ToolRequest, type ToolResponse, toolResponse } from '@suzumio/protocol/runner';
import type { DoorAnswer, DoorClient } from '../door/door-client.js';
import { messageOf, TurnFailure } from '../turn-failure.js';
import { isObject, needsFile, type OwnArtifacts, publishFile } from './publish-file.js';
import { jsonOf, localProblem, problemAnswer, problemOf, type ToolResult } from './tool-answer.js';
import { ArtifactWriter, ContentRefused } from './write-artifact.js';

/** The turn and workspace of a call. */
export interface CallSite {
  readonly door: DoorClient;
  readonly authorization: string;
  readonly workspace: string;
  /** The turn's tools, by whose schemas inputs are read. */
  readonly tools?: readonly ToolDefinition[];
  /** What it may publish from besides. */
  readonly own?: OwnArtifacts | undefined;
  /** What the workspace was cloned from; undefined where it is no clone. */
  readonly repository?: Repository | undefined;
  /** Where writing into the workspace is a step of its own. */
  readonly writeInStep?: WriteInStep;
}

/** Writes what a call was given in a step; a {@link WriteFailed} or ContentRefused of `write` is what came of it. */
export type WriteInStep = (
  call: { tool: 'artifacts.read'; input: unknown; step: string; unfilled?: unknown },
  write: () => Promise<string>,
) => Promise<ToolResult>;

/**
 * Calls a tool through the door, and does the workspace's part: reads published files from it, and writes artifacts
 * that are read `to` a path into it.
 */
export async function callTool(site: CallSite, request: ToolRequest): Promise<DoorAnswer> {
  const { door, authorization } = site;
  const { tool, input: written } = request;
  const schema = site.tools?.find(({ name }) => name === tool)?.inputSchema ?? {};
  const { input } = meantInput(schema, written);
  const published = needsFile(tool, input) ? await publishFile(door, authorization, site, input) : {};
  const answer = await door.send({
    method: 'POST',
    path: '/tool',
    headers: { authorization, ...(request.step === undefined ? {} : { [stepHeader]: request.step }) },
    // As the model wrote it, with what only this side of the door knows.
    json: {
      ...request,
      ...(published.facts && isObject(written) ? { input: { ...written, ...published.facts } } : {}),
    },
  });
  if (answer.status < 300) return isWrite(tool, input) ? writeHanded(site, request, input.to, answer) : answer;
  if (published.reason === undefined) return answer;
  // Adds what only this side of the door knows about the refusal.
  const problem = problemOf(answer);
  return problemAnswer({ ...problem, detail: `${problem.detail} (${published.reason})` });
}

function isWrite(tool: string, input: unknown): input is { to: string } {
  return tool === 'artifacts.read' && isObject(input) && 'to' in input && typeof input.to === 'string';
}

/**
 * Writes the files that an answer names: as a step in the sandbox where its runner takes such steps. Otherwise every attempt
 * does so, also for a recorded answer: its workspace is that of before the turn.
 */
async function writeHanded(
  site: CallSite,
  { step, input, unfilled }: ToolRequest,
  to: string,
  answer: DoorAnswer,
): Promise<DoorAnswer> {
  const response = toolResponse.safeParse(jsonOf(answer));
  const handed = handedArtifact.safeParse(response.data?.metadata);
  if (!response.success || !handed.success) return answer;
  const write = () => writeTo(site, handed.data, to);
  if (site.writeInStep && step !== undefined) {
    const result = await site.writeInStep({ tool: 'artifacts.read', input, step, unfilled }, write);
    return 'problem' in result ? problemAnswer(result.problem) : { ...answer, body: bytesOf(result.response) };
  }
  try {
    return { ...answer, body: bytesOf({ ...response.data, output: await write() }) };
  } catch (error) {
    if (error instanceof ContentRefused) return problemAnswer(error.problem);
    if (!(error instanceof WriteFailed)) throw error;
    return problemAnswer(localProblem(422, 'workspace-write-failed', error.message));
  }
}

const bytesOf = (response: ToolResponse): Buffer => Buffer.from(JSON.stringify(response));

/** The workspace does not take an artifact. */
export class WriteFailed extends Error {}

/**
 * Writes an artifact.
 *
 * @returns what the model is told
 * @throws ContentRefused, WriteFailed
 */
async function writeTo(site: CallSite, handed: HandedArtifact, to: string): Promise<string> {
  const { door, authorization, workspace } = site;
  try {
    const facts = await new ArtifactWriter(door, authorization, workspace).write(handed, to);
    return writtenText({ ...handed, ...facts }, to);
  } catch (error) {
    if (error instanceof TurnFailure || error instanceof ContentRefused) throw error;
    throw new WriteFailed(`"${handed.name}" was not written: ${messageOf(error)}`, { cause: error });
  }
}
