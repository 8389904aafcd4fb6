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
    workspace: Pick<Workspace, 'isNew' | 'hasOneTime'>;
    artifacts?: Pick<PreparedArtifacts, 'left'> | undefined;
  },
  claim: Pick<ClaimAnswer, 'attempt' | 'snapshot' | 'ignored'> & { input: Pick<ClaimAnswer['input'], 'turn'> },
): string[] {
  return [
    ...(home?.emptied === undefined
      ? []
      : [`Your home directory was emptied before this turn, for it had ${home.emptied}.`]),
    ...(workspace.isNew ? notesOnMove(claim, workspace) : []),
    ...(workspace.hasOneTime && hasBegun(claim) ? [oneTimeNote] : []),
    ...(artifacts && artifacts.left > 0
      ? [`${String(artifacts.left)} of the others' artifacts cannot be files, and are not in ${artifactsPath}.`]
      : []),
  ];
}

const oneTimeNote =
  'Your files were stored by a version that kept no times of modification: all of them have the same one now. What compares times, as make does, takes everything for built: build anew what you rely on.';

/** The first turn of an agent begins nowhere else. */
const hasBegun = ({ attempt, input: { turn } }: Parameters<typeof notesOn>[1]): boolean =>
  attempt > 1 || (turn.number ?? 1) > 1;

function notesOnMove(claim: Parameters<typeof notesOn>[1], { hasOneTime }: Pick<Workspace, 'hasOneTime'>): string[] {
  const { snapshot, ignored = [] } = claim;
  if (!hasBegun(claim) || snapshot === null || ignored.length === 0) return [];
  const named = ignored.slice(0, mostNamed).map((root) => JSON.stringify(root));
  const more = ignored.length > named.length ? ` and ${String(ignored.length - named.length)} others` : '';
  const unchanged = hasOneTime ? 'with their permissions' : 'with their permissions and times of modification';
  return [
    `Your turns run on another host now. The files of your workspace are as they were, ${unchanged}, but directories that are not captured stayed behind: ${named.join(', ')}${more}. Where you need them, make them again, as by installing packages.`,
  ];
}
