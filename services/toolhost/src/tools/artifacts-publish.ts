import { posix } from 'node:path';
import * as z from 'zod';
import { SuzumioError } from '@suzumio/shared/errors/suzumio-error';
import { artifactName, maxArtifactDescription } from '@suzumio/shared/model/artifact-name';
import { sha256 } from '@suzumio/shared/protocol/ids';
import { workspacePath } from '@suzumio/shared/protocol/workspace-manifest';
import { publishArtifact } from '@suzumio/shared/store/verbs/publish-artifact';
import { defineTool } from './tool.js';

export const artifactsPublish = defineTool({
  name: 'artifacts.publish',
  description: 'Publish a file of your workspace, so that the team and the person can read it.',
  input: z.strictObject({
    path: z.string().min(1).max(1024).describe('The file, relative to your workspace.'),
    name: artifactName.optional().describe('What to publish it as; by default the name of the file.'),
    description: z.string().max(maxArtifactDescription).optional(),
    sha256: sha256.optional(),
    sizeBytes: z.int().nonnegative().optional(),
  }),
  hidden: ['sha256', 'sizeBytes'],
  async prepare(input, { content }) {
    const path = pathInWorkspace(input.path);
    const name = artifactName.safeParse(input.name ?? posix.basename(path));
    if (!name.success) {
      throw new SuzumioError('artifact-path-invalid', `"${input.path}" needs a name to be published as.`);
    }
    const hash = input.sha256;
    const sizeBytes = hash === undefined ? undefined : await content.sizeOf(hash);
    if (hash === undefined || sizeBytes === undefined) {
      throw new SuzumioError(
        'content-missing',
        `The content of "${input.path}" was not uploaded before it was published; the runner uploads it and names its SHA-256.`,
      );
    }
    if (input.sizeBytes !== undefined && input.sizeBytes !== sizeBytes) {
      throw new SuzumioError(
        'content-mismatch',
        `"${input.path}" has ${String(sizeBytes)} bytes, not ${String(input.sizeBytes)}.`,
      );
    }
    return (tx, site) => {
      const { id } = publishArtifact(tx, {
        creator: site.agent,
        turn: site.turn,
        name: name.data,
        path: content.pathOf(hash),
        workspacePath: path,
        sha256: hash,
        sizeBytes,
        description: input.description,
      });
      return { output: `${name.data} (${id})`, metadata: { id, name: name.data, sha256: hash, sizeBytes } };
    };
  },
});

/**
 * A path as the agent may write it, relative to the workspace.
 *
 * @throws SuzumioError `artifact-path-invalid`
 */
function pathInWorkspace(path: string): string {
  const relative = posix.normalize(path.startsWith('/workspace/') ? path.slice('/workspace/'.length) : path);
  const parsed = workspacePath.safeParse(relative);
  if (parsed.success) return parsed.data;
  throw new SuzumioError(
    'artifact-path-invalid',
    `"${path}" is not a path inside the workspace; name the file relative to it, such as reports/summary.md.`,
  );
}
