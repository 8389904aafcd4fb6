import { handedArtifact, writtenText } from '@suzumio/protocol/artifacts';
import { type ToolRequest, type ToolResponse, toolResponse } from '@suzumio/protocol/runner';
import type { DoorAnswer, DoorClient } from '../door/door-client.js';
import { messageOf } from '../turn-failure.js';
import { isSystemError } from './is-system-error.js';
import { needsFile, publishFile } from './publish-file.js';
import { jsonOf, localProblem, problemAnswer, problemOf } from './tool-answer.js';
import { ArtifactWriter, ContentRefused } from './write-artifact.js';
import { WorkspacePathError } from './workspace-path.js';

/** The turn and workspace of a call. */
export interface CallSite {
  readonly door: DoorClient;
  readonly authorization: string;
  readonly workspace: string;
}

/**
 * Calls a tool through the door, and does the workspace's part: reads published files from it, and writes artifacts
 * that are read `to` a path into it.
 */
export async function callTool(site: CallSite, request: ToolRequest): Promise<DoorAnswer> {
  const { door, authorization, workspace } = site;
  const published = needsFile(request.tool, request.input)
    ? await publishFile(door, authorization, workspace, request.input)
    : { input: request.input };
  const answer = await door.send({
    method: 'POST',
    path: '/tool',
    headers: { authorization },
    json: { ...request, input: published.input },
  });
  if (answer.status < 300) return isWrite(request) ? writeHanded(site, request.input.to, answer) : answer;
  if (published.reason === undefined) return answer;
  // Adds what only this side of the door knows about the refusal.
  const problem = problemOf(answer);
  return problemAnswer({ ...problem, detail: `${problem.detail} (${published.reason})` });
}

type Write = ToolRequest & { input: { to: string } };

function isWrite(request: ToolRequest): request is Write {
  const { tool, input } = request;
  if (tool !== 'artifacts.read' || typeof input !== 'object' || input === null) return false;
  return 'to' in input && typeof input.to === 'string';
}

/**
 * Writes the files that an answer names. Every attempt does so, also for a recorded answer: its workspace may be an
 * older snapshot.
 */
async function writeHanded(site: CallSite, to: string, answer: DoorAnswer): Promise<DoorAnswer> {
  const response = toolResponse.safeParse(jsonOf(answer));
  const handed = handedArtifact.safeParse(response.data?.metadata);
  if (!response.success || !handed.success) return answer;
  const { door, authorization, workspace } = site;
  try {
    const written = await new ArtifactWriter(door, authorization, workspace).write(handed.data, to);
    const told: ToolResponse = { ...response.data, output: writtenText({ ...handed.data, ...written }, to) };
    return { ...answer, body: Buffer.from(JSON.stringify(told)) };
  } catch (error) {
    if (error instanceof ContentRefused) return problemAnswer(error.problem);
    if (!(error instanceof WorkspacePathError) && !isSystemError(error)) throw error;
    const detail = `"${handed.data.name}" was not written: ${messageOf(error)}`;
    return problemAnswer(localProblem(422, 'workspace-write-failed', detail));
  }
}
