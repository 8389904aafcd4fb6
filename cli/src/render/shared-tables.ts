import {
  type SharedDiffView,
  type SharedPushView,
  sharedPushView,
  type SharedRefView,
} from '@suzumio/contract/model/shared-repository';
import { oneLine } from '@suzumio/core/prompt/body';
import type { Session } from '../session.js';
import { dayAndTime, size } from './format.js';
import { table } from './table.js';

export function sharedRefTable(refs: readonly SharedRefView[], { context }: Session): string[] {
  return table(
    ['REF', 'AT', 'PUSHED BY', 'TIME'],
    refs.map(({ ref, id, agent, actor, pushedAt }) => [
      shortRef(ref),
      shortId(id),
      oneLine(agent ?? actor),
      dayAndTime(pushedAt, context),
    ]),
    context.out,
  );
}

export function sharedPushTable(pushes: readonly SharedPushView[], { context }: Session): string[] {
  return table(
    ['PUSH', 'TIME', 'BY', 'SIZE', 'MOVED'],
    pushes.map(({ seq, agent, actor, turnNumber, pack, updates, createdAt }) => [
      String(seq),
      dayAndTime(createdAt, context),
      agent === null ? oneLine(actor) : `${agent}:${turnNumber}`,
      pack === null ? '' : size(pack.sizeBytes),
      movedRefs(updates),
    ]),
    context.out,
  );
}

export function sharedCommitTable(commits: Readonly<SharedDiffView['commits']>, { context }: Session): string[] {
  return table(
    ['COMMIT', 'TIME', 'AUTHOR', 'SUBJECT'],
    commits.map(({ id, at, author, subject }) => [
      shortId(id),
      at === null ? '' : dayAndTime(at, context),
      oneLine(author),
      oneLine(subject),
    ]),
    context.out,
  );
}

/** Which references a push has moved; nothing for what another version wrote otherwise. */
export function movedRefs(updates: unknown): string {
  const moved = sharedPushView.shape.updates.safeParse(updates).data ?? [];
  return moved
    .map(({ ref, from, to }) => {
      const was = from === null ? 'new' : shortId(from);
      return `${shortRef(ref)} ${was} -> ${to === null ? 'deleted' : shortId(to)}`;
    })
    .join(', ');
}

/** A branch without its prefix, as Git shows it. */
function shortRef(ref: string): string {
  return oneLine(ref.replace(/^refs\/heads\//, '').replace(/^refs\/(?=tags\/)/, ''));
}

function shortId(id: string): string {
  return id.slice(0, 10);
}
