import { type RunnerTurnInput, runnerProtocol } from '@suzumio/protocol/runner';
import type { OpenDoor } from '../engine/turn-engine.js';
import type { GrantedTurn } from './granted-turn.js';
import { notesOn } from './notes-on.js';
import { artifactsRoots } from './prepare-artifacts.js';
import type { Prepared } from './prepare-attempt.js';

/** What the runner is given: the claim's input, with its paths and addresses in the sandbox. */
export function runnerInput(prepared: Prepared, door: OpenDoor, { ref, claim }: GrantedTurn): RunnerTurnInput {
  const { sandbox, workspace, repository, toolpacks } = prepared;
  const { input, toolToken } = claim;
  const loaded = toolpacks.length > 0 ? { toolpacks: [...toolpacks] } : {};
  return {
    ...input,
    ...(repository ? { repository } : {}),
    ...(input.sandbox
      ? {
          sandbox: {
            ...input.sandbox,
            ...loaded,
            mounts: [...input.sandbox.mounts, ...artifactsRoots(prepared, ref.agent)],
            notes: notesOn(prepared, claim),
          },
        }
      : {}),
    workspace: sandbox.workspaceSeen(workspace.directory),
    controllerUrl: sandbox.controllerUrl(door),
    token: toolToken,
    protocol: runnerProtocol,
  };
}
