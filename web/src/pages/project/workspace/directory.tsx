import type { WorkspaceEntry } from '@suzumio/sdk/client';
import { Link } from 'wouter';
import { Icon } from '../../../parts/icon.js';
import { bytes, count } from '../../../parts/numbers.js';
import { workspacePath } from '../../../parts/places.js';
import { visible } from '../../../parts/visible.js';
import { type Place, useEntries } from './use-workspace.js';

/** What is in the directory, or in the one that the file is in. */
export function Directory({ place, from, isFile }: { place: Place; from: number | undefined; isFile: boolean }) {
  const directory = isFile ? place.path.split('/').slice(0, -1).join('/') : place.path;
  const found = useEntries({ ...place, path: directory });
  const { turn } = place;
  const entries = found.data?.directory === true ? found.data.items : [];
  const rank = ({ kind }: WorkspaceEntry) => (kind === 'directory' ? 0 : 1);
  const pathOf = (name: string) => (directory === '' ? name : `${directory}/${name}`);
  return (
    <ul className="panes-list" aria-label="Files">
      {[...entries]
        .sort((a, b) => rank(a) - rank(b))
        .map((entry) => (
          <li key={entry.name}>
            <Link
              href={workspacePath(place.project, place.agent, { path: pathOf(entry.name), turn, from })}
              className="panes-row workspace-row"
              aria-current={pathOf(entry.name) === place.path ? 'true' : undefined}
            >
              <Icon name={entry.kind === 'directory' ? 'folder' : 'file'} />
              <span className="clip">
                <bdi>{visible(entry.name)}</bdi>
                {entry.kind === 'link' ? (
                  <span className="quiet">
                    {' '}
                    to <bdi>{visible(entry.target.slice(0, 200))}</bdi>
                  </span>
                ) : null}
              </span>
              <span className="inbox-age">
                {entry.kind === 'file' ? `${bytes(entry.sizeBytes)}${entry.executable ? ', runs' : ''}` : null}
              </span>
            </Link>
          </li>
        ))}
      {found.data && entries.length === 0 ? <li className="empty-line">Nothing is in it.</li> : null}
      {found.data?.next === undefined ? null : (
        <li className="empty-line">The first {count(entries.length)} by name are shown.</li>
      )}
    </ul>
  );
}
