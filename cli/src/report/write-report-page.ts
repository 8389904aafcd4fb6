import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { saveStream } from '../files/save-content.js';
import type { ApiClient } from '../reach/api-client.js';
import { filesOf } from './report-files.js';
import { type ReportFile, reportPage } from './report-page.js';

/**
 * Writes a report with the files that it names as one page.
 *
 * @param asked.file where to; true for a new directory among temporary files
 * @throws SuzumioError `invalid-request` where a file is there already, or cannot be written
 */
export async function writeReportPage(
  api: Pick<ApiClient, 'listArtifacts' | 'getArtifactContent'>,
  asked: { project: string; text: string; version: number; file: string | true },
): Promise<{ path: string; files: readonly ReportFile[] }> {
  const { project, text, version, file } = asked;
  const files = await filesOf(api, project, text);
  const page = Buffer.from(reportPage({ project, version, text, files }));
  const directory = () => mkdtemp(join(tmpdir(), 'suzumio-report-'));
  const path = file === true ? join(await directory(), `${project}-${version}.html`) : resolve(file);
  await saveStream(path, () => Promise.resolve(inParts(page)), { force: false });
  return { path, files };
}

async function* inParts(bytes: Buffer): AsyncIterable<Uint8Array> {
  await Promise.resolve();
  yield bytes;
}
