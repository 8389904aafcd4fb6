import { visible } from '../../../parts/visible.js';
import { type Place, useClone } from './use-workspace.js';

/** What a workspace is a clone of, its base, and how far its repository has gone on; nothing where it is none. */
export function CloneLine({ place }: { place: Place }) {
  const { data: clone } = useClone(place);
  if (!clone) return null;
  const { name, ref, base, upstream } = clone;
  return (
    <p className="workspace-clone quiet">
      Clone of <bdi>{visible(name)}</bdi>
      {ref === null ? null : (
        <>
          {' at '}
          <bdi>{visible(ref)}</bdi>
        </>
      )}
      , from{' '}
      <code translate="no" title={base}>
        {base.slice(0, 10)}
      </code>
      {upstream === null ? null : `; ${distanceOf(upstream, base)}`}
    </p>
  );
}

type Clone = NonNullable<ReturnType<typeof useClone>['data']>;

function distanceOf(
  { commit, ahead, rewritten, noNews, turnNumber }: NonNullable<Clone['upstream']>,
  base: string,
): string {
  const far =
    commit === base
      ? 'still there'
      : ahead === null
        ? `at ${commit.slice(0, 10)}, how far from there is not known`
        : `at ${commit.slice(0, 10)}, ${String(ahead)} ${ahead === 1 ? 'commit' : 'commits'} from there`;
  const known = noNews
    ? `when it was last seen: no news before turn ${String(turnNumber)} (${noNews.code})`
    : `before turn ${String(turnNumber)}`;
  return `${far}${rewritten ? ', with its history rewritten' : ''}, ${known}`;
}
