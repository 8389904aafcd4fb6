import type { WorkspaceRepositoryView } from '@suzumio/contract/model/workspace';
import type { CliContext } from '../cli-context.js';
import { count, dayAndTime } from './format.js';
import { oneLine } from '@suzumio/core/prompt/body';

/** What a workspace is a clone of, and how far that repository has gone on since. */
export function workspaceRepositoryLines(
  { agent, repository }: WorkspaceRepositoryView,
  style: Pick<CliContext, 'timeZone'>,
): string[] {
  if (!repository) return [`The workspace of ${agent} is no clone of a repository, or has not been cloned yet.`];
  const { name, ref, branch, base, turnNumber, clonedAt, upstream } = repository;
  const lines = [
    `clone of  ${oneLine(name)}${ref === null ? '' : ` at ${oneLine(ref)}`}`,
    `branch    ${oneLine(branch)}`,
    `base      ${base}  turn ${turnNumber}, ${dayAndTime(clonedAt, style)}`,
  ];
  if (!upstream) return lines;
  const { commit, ahead, rewritten, noNews } = upstream;
  const when = `turn ${upstream.turnNumber}, ${dayAndTime(upstream.lookedAt, style)}`;
  const distance =
    commit === base
      ? 'the base'
      : ahead === null
        ? 'commits from the base: not known'
        : `${count(ahead, 'commit')} from the base`;
  lines.push(
    `upstream  ${commit}  ${distance}${rewritten ? ', history rewritten' : ''}  ${noNews ? 'as last seen' : when}`,
  );
  if (noNews) lines.push(`no news   ${noNews.code}: ${oneLine(noNews.message)}  ${when}`);
  return lines;
}
