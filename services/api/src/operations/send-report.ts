import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { artifacts } from '@suzumio/contract/operations/artifacts';
import { sendFile } from '@suzumio/runtime/http/send-file';
import { listReports, type ReportRow } from '@suzumio/store/content/reports';
import type { Run } from '../routes.js';

/** Sends the report: its newest version, or the requested one. */
export const sendReport: Run<typeof artifacts.getReport> = async (call) => {
  const { request, response } = call;
  const report = chosen(await call.read(listReports), call.query.version);
  const file = join(call.context.cell.directory.projectDir(call.params.project), report.path);
  response.type('text/markdown; charset=utf-8').set({
    'suzumio-report-version': String(report.version),
    'content-length': String((await stat(file)).size),
  });
  if (request.method === 'HEAD') response.end();
  else await sendFile(response, createReadStream(file));
};

function chosen(reports: readonly ReportRow[], version: number | undefined): ReportRow {
  const newest = reports.at(-1);
  if (!newest) throw new SuzumioError('report-missing', 'No report has been submitted yet.');
  const report = version === undefined ? newest : reports.find((candidate) => candidate.version === version);
  if (report) return report;
  throw new SuzumioError('report-missing', `There is no version ${String(version)}; the newest is ${newest.version}.`);
}
