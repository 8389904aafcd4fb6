import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { artifactName } from '@suzumio/contract/model/artifact-name';
import type { DirectoryFile } from '@suzumio/protocol/artifacts';
import { printBytes, saveDirectory, saveFile, saveStream } from '../files/save-content.js';
import { artifactCalled, publishFile, type PublishOptions } from '../reach/api-client.js';
import { findReads, requireApi } from '../reach/reach.js';
import { artifactTable } from '../render/tables.js';
import { count, size } from '../render/format.js';
import type { Session } from '../session.js';
import type { Register } from './action.js';
import { examples } from './help.js';
import { type OrderOptions, sayList, type TimeOptions, timesOf, withOrder, withTimes } from './list.js';
import { registerRedactArtifact } from './redact.js';
import { tell } from './tell.js';

/** Artifacts: what was published, to a person's own files and from them. */
export const registerArtifacts: Register = (program, action) => {
  const artifacts: Command = examples(
    withOrder(
      withTimes(
        program
          .command('artifacts <project>')
          .description('list what was published, get it, or publish a file')
          .option('--by <who>', 'only what an agent or user has published')
          .option('--prefix <text>', 'only what has a name that begins so')
          .option('--latest', 'only the newest of each name, with the number of its versions', false),
      ),
    ),
    ['artifacts newsroom', 'who published what'],
    ['artifacts newsroom --by checker --prefix reports/ --since 1d'],
    ['artifacts newsroom --latest', 'a row for each name'],
    ['artifacts newsroom --json', 'with ids, hashes and where they are stored'],
    ['artifacts get newsroom bulletin.md', 'the newest of that name'],
  ).action(action(list));
  examples(
    artifacts
      .command('get <project> <artifact>')
      .description('write an artifact, a file or a directory, into your own files, and check that it is whole')
      .option('--output <path>', 'where to; by default its own name, here; - for standard output')
      .option('--force', 'write over a file that is there', false),
    ['artifacts get newsroom bulletin.md', 'the newest of that name'],
    ['artifacts get newsroom bulletin.md --output - | wc -w'],
    ['artifacts get newsroom art_01KB3Z8T5V0000000000000001 --output north.csv', 'one of many, by its id'],
  ).action(action(get));
  examples(
    artifacts
      .command('archive <project>')
      .description('write everything that was published, of each name the newest version, into one tar file')
      .option('--creator <who>', 'only what an agent or user has published')
      .option('--output <path>', 'where to; by default PROJECT-artifacts.tar, here')
      .option('--force', 'write over a file that is there', false),
    ['artifacts archive newsroom', 'then: tar -xf newsroom-artifacts.tar'],
    ['artifacts archive newsroom --creator checker --output checked.tar'],
  ).action(action(archive));
  examples(
    artifacts
      .command('publish <project> <file>')
      .description('publish a file of yours, which the agents may read')
      .option('--name <name>', 'what to publish it as; by default its own name')
      .option('--description <text>', 'what it is'),
    ['artifacts publish newsroom north.csv --description "Readings of the north gauge"'],
  ).action(action(publish));
  registerRedactArtifact(artifacts, action);
};

interface ArtifactsOptions extends OrderOptions, TimeOptions {
  by?: string;
  prefix?: string;
  latest: boolean;
}

async function list(session: Session, project: string, options: ArtifactsOptions): Promise<undefined> {
  const { by: creator, prefix, latest } = options;
  const filters = { ...timesOf(session, options), creator, prefix };
  const query = { ...filters, latest: latest ? 'true' : 'false' } as const;
  const api = await findReads(session);
  const listing = { project, of: 'artifacts', filters, toTable: artifactTable };
  await sayList(session, options, listing, (page) => api.listArtifacts({ project, query: { ...page, ...query } }));
}

async function get(
  session: Session,
  project: string,
  name: string,
  { output, force }: { output?: string; force: boolean },
): Promise<undefined> {
  const api = await findReads(session);
  const artifact = await artifactCalled(api, project, name);
  const path = output ?? artifactName.safeParse(artifact.name).data;
  const content = (file?: DirectoryFile) =>
    api.getArtifactContent({ project, artifact: artifact.id, query: { path: file?.path } });
  if (output === '-') {
    if (artifact.kind === 'directory') {
      throw new SuzumioError('invalid-request', `${artifact.name} is a directory: name a place for it with --output.`);
    }
    await printBytes(session, artifact, () => content());
    return;
  }
  if (path === undefined) {
    throw new SuzumioError(
      'invalid-request',
      'Its name cannot be that of a file; say with --output where to write it.',
    );
  }
  if (artifact.kind === 'file') await saveFile(path, artifact, () => content(), { force });
  else {
    const { items: entries } = await api.listArtifactEntries({ project, artifact: artifact.id });
    await saveDirectory(path, entries, content);
  }
  const files = artifact.kind === 'file' ? '' : `${count(artifact.files, 'file')}, `;
  tell(session, { ...artifact, output: path }, [
    `Wrote ${path}, ${files}${size(artifact.sizeBytes)}, as it was published.`,
  ]);
}

async function archive(
  session: Session,
  project: string,
  { creator, output = `${project}-artifacts.tar`, force }: { creator?: string; output?: string; force: boolean },
): Promise<undefined> {
  const api = await findReads(session);
  await saveStream(output, () => api.getArtifactsArchive({ project, query: { creator } }), { force });
  const sizeBytes = (await stat(output)).size;
  tell(session, { project, creator: creator ?? null, output, sizeBytes }, [
    `Wrote ${output}, ${size(sizeBytes)}: tar -xf ${output}.`,
  ]);
}

async function publish(session: Session, project: string, file: string, options: PublishOptions): Promise<undefined> {
  const artifact = await publishFile(await requireApi(session), project, file, options);
  const published = `Published ${artifact.name} as ${artifact.id}, ${size(artifact.sizeBytes)}.`;
  tell(session, artifact, [published], `send ${project} AGENT P1 "…" --attach ${artifact.id}`);
}
