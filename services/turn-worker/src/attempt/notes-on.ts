import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import { artifactsPath } from '@suzumio/protocol/own-artifacts';
import type { AgentHome, Workspace } from '../workspace/workspaces.js';
import type { PreparedArtifacts } from './prepare-artifacts.js';

/** How many of the directories that are not captured are named. */
const mostNamed = 10;

/** What the model is told of its sandbox with its first result there. */
export function notesOn(
  {
    home,
    workspace,
    artifacts,
  }: {
    home: Pick<AgentHome, 'emptied'> | undefined;
    workspace: Pick<Workspace, 'isNew'>;
    artifacts?: Pick<PreparedArtifacts, 'left'> | undefined;
  },
  claim: Pick<ClaimAnswer, 'attempt' | 'snapshot' | 'ignored'> & { input: Pick<ClaimAnswer['input'], 'turn'> },
): string[] {
  return [
    ...(home?.emptied === undefined
      ? []
      : [`Your home directory was emptied before this turn, for it had ${home.emptied}.`]),
    ...(workspace.isNew ? notesOnMove(claim) : []),
    ...(artifacts && artifacts.left > 0
      ? [`${String(artifacts.left)} of the others' artifacts cannot be files, and are not in ${artifactsPath}.`]
      : []),
  ];
}

/** The first turn of an agent begins nowhere else. */
function notesOnMove({ attempt, snapshot, ignored = [], input: { turn } }: Parameters<typeof notesOn>[1]): string[] {
  const hasBegunElsewhere = attempt > 1 || (turn.number ?? 1) > 1;
  if (!hasBegunElsewhere || snapshot === null || ignored.length === 0) return [];
  const named = ignored.slice(0, mostNamed).map((root) => JSON.stringify(root));
  const more = ignored.length > named.length ? ` and ${String(ignored.length - named.length)} others` : '';
  return [
    `Your turns run on another host now. Your workspace is as it was, but directories that are not captured stayed behind: ${named.join(', ')}${more}. Where you need them, make them again, as by installing packages.`,
  ];
}
