import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { browserOpens } from '../browser.js';
import { tell } from '../commands/tell.js';
import { saveStream } from '../files/save-content.js';
import type { ApiClient } from '../reach/api-client.js';
import { count } from '../render/format.js';
import type { Session } from '../session.js';
import { filesOf } from './report-files.js';
import { reportPage } from './report-page.js';

/**
 * Writes a report with the files that it names as one page, and opens it in a browser of this machine, where there is one.
 *
 * @param file where to; true for a new directory among temporary files
 * @throws SuzumioError `invalid-request` where a file is there already, or cannot be written
 */
export async function openReport(
  session: Session,
  api: Pick<ApiClient, 'listArtifacts' | 'getArtifactContent'>,
  { project, text, version, file }: { project: string; text: string; version: number; file: string | true },
): Promise<void> {
  const files = await filesOf(api, project, text);
  const page = Buffer.from(reportPage({ project, version, text, files }));
  const path =
    file === true
      ? join(await mkdtemp(join(tmpdir(), 'suzumio-report-')), `${project}-${version}.html`)
      : resolve(file);
  await saveStream(path, () => Promise.resolve(inParts(page)), { force: false });
  // A program has the file.
  const opened = !session.json && (await browserOpens(path));
  const held = files.filter(({ content }) => content !== undefined).length;
  tell(session, { project, version, file: path, files: files.map(({ name }) => name), opened }, [
    `Wrote ${path}, with ${count(held, 'file')} that the report names.${opened ? ' It is open in your browser.' : ''}`,
    ...files.flatMap(({ name, left }) => (left === undefined ? [] : [`Not in it: ${name}. ${left}`])),
  ]);
}

async function* inParts(bytes: Buffer): AsyncIterable<Uint8Array> {
  await Promise.resolve();
  yield bytes;
}
