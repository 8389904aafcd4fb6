import { Option } from 'commander';
import type { Client } from '@suzumio/contract/client/client';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ArtifactView } from '@suzumio/contract/model/artifact';
import { oneLine } from '@suzumio/core/prompt/body';
import { maxEarlierPatches } from '@suzumio/protocol/artifacts';
import { quotedPath } from '@suzumio/protocol/quoted-path';
import { readContent } from '../files/save-content.js';
import { artifactCalled } from '../reach/api-client.js';
import { findReads } from '../reach/reach.js';
import { count } from '../render/format.js';
import type { Session } from '../session.js';
import type { Register } from './action.js';
import { examples } from './help.js';
import { tell } from './tell.js';

/** How many bytes of a patch are taken. */
const maxPatchBytes = 256 * 1024 * 1024;

/** How many changed files are named. */
const maxShown = 20;

/** Patches that agents have published, in a person's own repository. */
export const registerPatch: Register = (program, action) => {
  const group = program.command('patch').description('take what agents have changed into a repository of yours');
  examples(
    group
      .command('apply <project> <patch>')
      .description("change the files of your repository as a team's patch says: all of it, or nothing")
      .addOption(new Option('--repository <dir>', 'the repository, or a directory in it').default('.', 'this one'))
      .option('--conflicts', 'where you have changed the same lines, write both sides into the file', false),
    ['patch apply tides developer.patch', 'then look (git diff), and commit'],
    ['patch apply tides developer.patch --repository ~/tides'],
    ['patch apply tides art_01KB3Z8T5V0000000000000001', 'an earlier version, by its id'],
  ).action(action(apply));
};

async function apply(
  session: Session,
  project: string,
  name: string,
  { repository, conflicts }: { repository: string; conflicts: boolean },
): Promise<undefined> {
  const { applyPatch } = await import('../patch/apply-patch.js');
  const api = await findReads(session);
  const artifact = await artifactCalled(api, project, name);
  const patch = await patchOf(api, project, artifact);
  const earlier = async function* () {
    for (const version of await versionsBefore(api, project, artifact)) yield await patchOf(api, project, version);
  };
  const called = `${artifact.name} (${artifact.id})`;
  const options = { directory: repository, env: { ...session.context.env }, called, conflicts };
  const applied = await applyPatch(patch, earlier, options);
  const { id, base, creator } = artifact;
  const { files, supersedes } = applied;
  const lines = [
    ...applied.notes.map(oneLine),
    files.length === 0
      ? `Your files have all of ${called} already.`
      : `Applied ${called} of ${creator}, against ${base}: ${count(files.length, 'file')} changed, and nothing committed.`,
    ...(supersedes === null ? [] : [`It is in the place of its earlier version ${supersedes}, which was there.`]),
    ...files
      .slice(0, maxShown)
      .map((path) => `  ${applied.conflicts.includes(path) ? 'both sides: ' : ''}${oneLine(quotedPath(path))}`),
    ...(files.length > maxShown ? [`  and ${files.length - maxShown} more`] : []),
    ...(applied.replaced === null ? [] : [`As they were before, they are in ${oneLine(applied.replaced)} for a week.`]),
    ...(applied.conflicts.length > 0
      ? ['Resolve what stands between <<<<<<< (yours) and >>>>>>> (the patch) before you commit.']
      : files.length > 0
        ? ['Look at it with git diff, and commit it.']
        : []),
  ];
  tell(session, { artifact: id, name: artifact.name, base, ...applied }, lines);
}

async function patchOf(api: Client, project: string, { id, name, base, kind, sha256, sizeBytes }: ArtifactView) {
  if (base === null || kind !== 'file') {
    throw new SuzumioError(
      'invalid-request',
      `${name} is not a patch that an agent has made of its clone (artifacts.publish with patch: true).`,
    );
  }
  if (sizeBytes > maxPatchBytes)
    throw new SuzumioError('invalid-request', `${name} has more than ${maxPatchBytes} bytes.`);
  const bytes = await readContent({ sha256, sizeBytes }, () =>
    api.getArtifactContent({ project, artifact: id, query: {} }),
  );
  return { id, base, bytes };
}

/** The versions that a patch replaces: of the same name, by the same agent, the newest first. */
async function versionsBefore(
  api: Client,
  project: string,
  { name, creator, seq }: ArtifactView,
): Promise<ArtifactView[]> {
  const { items } = await api.listArtifacts({
    project,
    query: { name, creator, before: seq, order: 'desc', limit: maxEarlierPatches },
  });
  return items.filter(({ base, redacted }) => base !== null && redacted === null);
}
