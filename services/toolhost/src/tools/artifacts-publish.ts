import { posix } from 'node:path';
import * as z from 'zod';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { artifactName, maxArtifactDescription } from '@suzumio/contract/model/artifact-name';
import { artifactKind, filesOf } from '@suzumio/protocol/artifacts';
import { sha256 } from '@suzumio/protocol/ids';
import type { ContentStore } from '@suzumio/store/content/content-store';
import { uploadedDirectory } from '@suzumio/store/content/directories';
import { type NewArtifact, publishArtifact } from '@suzumio/store/content/publish-artifact';
import { pathInWorkspace } from './path-in-workspace.js';
import { defineTool } from './tool.js';
import { uploadFacts } from './upload-facts.js';

/** The facts of an artifact that come from the upload. */
type Uploaded = Pick<NewArtifact, 'sha256' | 'sizeBytes' | 'directory'>;

export const artifactsPublish = defineTool({
  name: 'artifacts.publish',
  description:
    'Publish a file of your workspace, or a directory with all that is in it, so that the team and the person can read it. ' +
    'A directory may hold files and directories, and no links.',
  input: z.strictObject({
    path: z.string().min(1).max(1024).describe('The file or directory, relative to your workspace.'),
    name: artifactName.optional().describe('What to publish it as; by default its own name.'),
    description: z.string().max(maxArtifactDescription).optional(),
    sha256: sha256.optional(),
    sizeBytes: z.int().nonnegative().optional(),
    kind: artifactKind.optional(),
  }),
  hidden: uploadFacts,
  async prepare(input, { content }) {
    const path = pathInWorkspace(input.path);
    const name = artifactName.safeParse(input.name ?? posix.basename(path));
    if (!name.success) {
      throw new SuzumioError('artifact-path-invalid', `"${input.path}" needs a name to be published as.`);
    }
    const uploaded = await uploadedAs(input.kind ?? 'file', input.sha256, content);
    if (!uploaded) {
      throw new SuzumioError(
        'content-missing',
        `The content of "${input.path}" was not uploaded before it was published; the runner uploads it and names its SHA-256.`,
      );
    }
    const { sha256: hash, sizeBytes, directory } = uploaded;
    if (input.sizeBytes !== undefined && input.sizeBytes !== sizeBytes) {
      throw new SuzumioError(
        'content-mismatch',
        `"${input.path}" has ${String(sizeBytes)} bytes, not ${String(input.sizeBytes)}.`,
      );
    }
    return (tx, site) => {
      const { id } = publishArtifact(tx, {
        ...uploaded,
        creator: site.agent,
        turn: site.turn,
        name: name.data,
        path: content.pathOf(hash),
        workspacePath: path,
        description: input.description,
      });
      const files = directory ? { files: directory.files } : {};
      return { output: `${name.data} (${id})`, metadata: { id, name: name.data, sha256: hash, sizeBytes, ...files } };
    };
  },
});

async function uploadedAs(
  kind: z.infer<typeof artifactKind>,
  hash: string | undefined,
  content: ContentStore,
): Promise<Uploaded | undefined> {
  if (hash === undefined) return undefined;
  if (kind === 'file') {
    const sizeBytes = await content.renew(hash);
    return sizeBytes === undefined ? undefined : { sha256: hash, sizeBytes };
  }
  const manifest = await uploadedDirectory(content, hash);
  if (!manifest) return undefined;
  const files = filesOf(manifest);
  const contents = [...new Set(files.map((file) => file.sha256))];
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  return { sha256: hash, sizeBytes, directory: { files: files.length, contents } };
}
