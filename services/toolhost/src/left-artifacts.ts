import { isSuzumioError, messageOf, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { filesOf } from '@suzumio/protocol/artifacts';
import { ownArtifacts } from '@suzumio/protocol/own-artifacts';
import { SnapshotInvalid } from '@suzumio/protocol/workspace-snapshot';
import type { ContentStore } from '@suzumio/store/content/content-store';
import { uploadedDirectory } from '@suzumio/store/content/directories';
import type { NewArtifact } from '@suzumio/store/content/publish-artifact';
import { type LeftArtifacts, Unpublished } from '@suzumio/store/content/publish-left';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { agentRow, type AttemptRow, turnRow } from '@suzumio/store/rows';
import { toolNames } from '@suzumio/store/turns/frozen-input';
import type { ChangedArtifact } from '@suzumio/store/workspaces/changed-artifacts';
import { contentOf } from './content.js';
import type { ToolhostContext } from './context.js';

/**
 * What a turn has changed in its agent's own directory of artifacts since that was last published, prepared before the
 * transaction that publishes it.
 *
 * @param snapshot what the turn has left; undefined where it has no workspace
 * @returns undefined where nothing is to be published, or its agent publishes nothing
 */
export async function leftArtifacts(
  context: ToolhostContext,
  store: ProjectStore,
  { status, turn_id: turn }: AttemptRow,
  snapshot: string | null | undefined,
): Promise<LeftArtifacts | undefined> {
  if (snapshot === undefined || status !== 'running') return undefined;
  const agent = agentRow(store.reader, turnRow(store.reader, turn).agent_id);
  if (snapshot === agent.published_snapshot) return undefined;
  if (!toolNames(agent, store.config).includes('artifacts.publish')) return undefined;
  const unpublished = new Unpublished();
  const content = contentOf(context, store.project);
  try {
    const projectDir = context.cell.directory.projectDir(store.project);
    const since = (before: string | null) =>
      context.snapshots.read(projectDir, 'artifacts', { before, after: snapshot });
    // Where it cannot be told what is new, nothing is published twice all the same.
    const changed = await since(agent.published_snapshot).catch((error: unknown) => {
      if (error instanceof SnapshotInvalid && agent.published_snapshot !== null) return since(null);
      throw error;
    });
    const artifacts: LeftArtifacts['artifacts'][number][] = [];
    for (const one of changed) {
      const made = one.kind === 'none' ? one : await artifactOf(one, { store, content, agent: agent.id });
      if ('why' in made) unpublished.add(one.name, made.why);
      else artifacts.push(made);
    }
    return { snapshot, artifacts, unpublished };
  } catch (error) {
    // The turn counts all the same. What it has changed is looked at again after the next one.
    context.logger.warn({ err: error, project: store.project, turn }, 'what a turn has left could not be published');
    unpublished.add('all of it', error instanceof SuzumioError ? error.message : 'it could not be read');
    return { snapshot: undefined, artifacts: [], unpublished };
  }
}

type Made = LeftArtifacts['artifacts'][number];

/** An artifact whose content is stored, or why there is none. */
async function artifactOf(
  changed: Exclude<ChangedArtifact, { kind: 'none' }>,
  { store, content, agent }: { store: ProjectStore; content: ContentStore; agent: string },
): Promise<Made | { why: string }> {
  try {
    const made =
      changed.kind === 'file' ? await fileOf(changed, content) : await directoryOf(changed, content, store, agent);
    const { name } = changed;
    return { ...made, name, path: content.pathOf(made.sha256), workspacePath: `${ownArtifacts}/${name}` };
  } catch (error) {
    if (!isSuzumioError(error, 'content-missing', 'content-mismatch', 'artifact-directory-invalid')) throw error;
    return { why: messageOf(error) };
  }
}

type Content = Pick<NewArtifact, 'sha256' | 'sizeBytes' | 'directory'>;

async function fileOf({ sha256 }: { sha256: string }, content: ContentStore): Promise<Content> {
  const sizeBytes = await content.renew(sha256);
  if (sizeBytes === undefined) throw new SuzumioError('content-missing', 'Its content is not stored.');
  return { sha256, sizeBytes };
}

async function directoryOf(
  { manifest }: Extract<ChangedArtifact, { kind: 'directory' }>,
  content: ContentStore,
  store: ProjectStore,
  agent: string,
): Promise<Content> {
  const list = Buffer.from(JSON.stringify(manifest));
  const sha256 = await store.content.putBytes(content, list, { owner: agent, kind: 'content' });
  const files = filesOf((await uploadedDirectory(content, sha256)) ?? manifest);
  const contents = [...new Set(files.map((file) => file.sha256))];
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  return { sha256, sizeBytes, directory: { files: files.length, contents } };
}
