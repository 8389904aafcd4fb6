import { posix } from 'node:path';
import * as z from 'zod';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { artifactName, maxArtifactDescription } from '@suzumio/contract/model/artifact-name';
import { artifactKind, filesOf } from '@suzumio/protocol/artifacts';
import { sha256 } from '@suzumio/protocol/ids';
import { commitId, knownTips, type Repository } from '@suzumio/protocol/repository';
import { plainText } from '@suzumio/protocol/plain-text';
import type { ContentStore } from '@suzumio/store/content/content-store';
import { uploadedDirectory } from '@suzumio/store/content/directories';
import { type NewArtifact, publishArtifact } from '@suzumio/store/content/publish-artifact';
import { publishedPath } from './path-in-workspace.js';
import { defineTool, type ToolEnvironment } from './tool.js';
import { uploadFacts } from './upload-facts.js';

/** The longest text of a call: a redaction looks for copies of texts up to this size. */
const maxTextBytes = 1024 * 1024;

const wanted = z
  .strictObject({
    path: z.string().min(1).max(1024).optional().describe('The file or directory, relative to your workspace.'),
    content: z
      .string()
      .refine((text) => Buffer.byteLength(text) <= maxTextBytes, `at most ${String(maxTextBytes)} bytes`)
      .refine((text) => text.isWellFormed() && !text.includes('\0'), 'no NUL, and no halves of characters')
      .optional()
      .describe('A text to publish as it is, instead of a path.'),
    patch: z
      .literal(true)
      .optional()
      .describe('Instead of a path: a patch of all that you changed in your Git workspace.'),
    name: artifactName.optional().describe('What to publish it as; by default the own name of what is at the path.'),
    description: plainText.max(maxArtifactDescription).optional(),
    sha256: sha256.optional(),
    sizeBytes: z.int().nonnegative().optional(),
    kind: artifactKind.optional(),
    base: commitId.optional(),
  })
  .refine(
    ({ path, content, patch }) => [path, content, patch].filter((way) => way !== undefined).length === 1,
    'give one of: the path of a file or directory, the content and the name of a text, or patch',
  )
  .refine(({ content, name }) => content === undefined || name !== undefined, 'a text needs a name, such as summary.md')
  .refine(
    (input) => input.content === undefined || uploadFacts.every((fact) => input[fact] === undefined),
    `${uploadFacts.join(', ')} are of files, and are left out with content`,
  );
type Wanted = z.output<typeof wanted>;

export const artifactsPublish = defineTool({
  name: 'artifacts.publish',
  description:
    'Publish a file of your workspace, or a directory with all that is in it, so that the team and the person can read it: give ' +
    'its path. To publish a text that is in no file, give content and name. To publish what ' +
    'you changed in a Git workspace, give patch: true. A directory may hold files and directories, and no links.',
  input: wanted,
  hidden: uploadFacts,
  async prepare(input, environment) {
    const { content, store, repository } = environment;
    const made =
      input.content !== undefined
        ? await fromText(input, store)
        : input.patch === true
          ? await fromChanges(input, content, repository())
          : await fromWorkspace(input, environment);
    const { name, sha256: hash, sizeBytes, directory, base } = made;
    const description = base === undefined ? input.description : againstBase(base, input.description);
    return (tx, { agent: creator, turn }) => {
      const { id } = publishArtifact(tx, { ...made, creator, turn, path: content.pathOf(hash), description });
      const files = directory ? { files: directory.files } : {};
      const against = base === undefined ? {} : { base };
      const output = base === undefined ? `${name} (${id})` : `${name} (${id}), against the commit ${base}`;
      return { output, metadata: { id, name, sha256: hash, sizeBytes, ...files, ...against } };
    };
  },
});

/** What an artifact is made of. */
type Made = Pick<NewArtifact, 'name' | 'workspacePath' | 'directory' | 'sha256' | 'sizeBytes'> & {
  /** The commit that a patch is against. */
  base?: string;
};

/** A file or directory that the runner has uploaded. */
async function fromWorkspace(
  { path = '', name: named, kind = 'file', ...told }: Wanted,
  { content, agent }: Pick<ToolEnvironment, 'content' | 'agent'>,
): Promise<Made> {
  const workspacePath = publishedPath(path, agent);
  const name = artifactName.safeParse(named ?? posix.basename(workspacePath));
  if (!name.success) {
    throw new SuzumioError('artifact-path-invalid', `"${path}" needs a name to be published as.`);
  }
  const uploaded = await uploadedAs(kind, told.sha256, content);
  if (!uploaded) {
    throw new SuzumioError(
      'content-missing',
      `The content of "${path}" was not uploaded before it was published; the runner uploads it and names its SHA-256.`,
    );
  }
  if (told.sizeBytes !== undefined && told.sizeBytes !== uploaded.sizeBytes) {
    throw new SuzumioError(
      'content-mismatch',
      `"${path}" has ${String(uploaded.sizeBytes)} bytes, not ${String(told.sizeBytes)}.`,
    );
  }
  return { ...uploaded, name: name.data, workspacePath };
}

/** A patch that the runner has made and uploaded. */
async function fromChanges(
  { name, ...told }: Wanted,
  content: ContentStore,
  repository: Repository | undefined,
): Promise<Made> {
  if (!repository) {
    throw new SuzumioError('content-missing', 'A patch is made of a Git workspace, and yours is none: publish a path.');
  }
  const uploaded = await uploadedAs('file', told.sha256, content);
  if (!uploaded) throw new SuzumioError('content-missing', 'No patch was made of your changes, so none is published.');
  const ownName = artifactName.safeParse(`${posix.basename(repository.branch)}.patch`).data ?? 'changes.patch';
  // A runner of before knows the first commit only.
  const { base = repository.base } = told;
  if (!knownTips(repository).includes(base)) {
    throw new SuzumioError(
      'content-mismatch',
      `The patch is against the commit ${base}, at which ${repository.name} was never seen.`,
    );
  }
  return { ...uploaded, name: name ?? ownName, base };
}

function againstBase(base: string, description: string | undefined): string {
  const against = `Patch against the commit ${base}.`;
  return description === undefined ? against : `${description} ${against}`.slice(0, maxArtifactDescription);
}

async function fromText({ content: text = '', name = '' }: Wanted, store: ToolEnvironment['store']): Promise<Made> {
  const bytes = Buffer.from(text);
  return { name, sha256: await store(bytes, 'content'), sizeBytes: bytes.length };
}

async function uploadedAs(
  kind: z.infer<typeof artifactKind>,
  hash: string | undefined,
  content: ContentStore,
): Promise<Omit<Made, 'name'> | undefined> {
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
