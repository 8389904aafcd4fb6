import { posix } from 'node:path';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { artifactsPath, ownArtifacts } from '@suzumio/protocol/own-artifacts';
import { workspacePath } from '@suzumio/protocol/workspace-manifest';

/**
 * A path that an agent publishes: in its workspace, or in its own directory of artifacts.
 *
 * @throws SuzumioError `artifact-path-invalid`
 */
export function publishedPath(path: string, agent: string): string {
  const own = `${artifactsPath}/${agent}/`;
  return pathInWorkspace(path.startsWith(own) ? `${ownArtifacts}/${path.slice(own.length)}` : path);
}

/**
 * A path as the agent may write it, relative to the workspace.
 *
 * @throws SuzumioError `artifact-path-invalid`
 */
export function pathInWorkspace(path: string): string {
  const relative = path.startsWith('/workspace/') ? path.slice('/workspace/'.length) : path;
  const parsed = workspacePath.safeParse(posix.normalize(relative).replace(/\/$/, ''));
  if (parsed.success) return parsed.data;
  throw new SuzumioError(
    'artifact-path-invalid',
    `"${path}" is not a path inside the workspace; give it relative to that, such as reports/summary.md.`,
  );
}
