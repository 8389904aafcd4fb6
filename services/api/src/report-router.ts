import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import express, { type Router } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { sendFile } from '@suzumio/runtime/http/send-file';
import { reportQuery } from '@suzumio/contract/model/http-api';
import { listReports, type ReportRow } from '@suzumio/store/projects/read-project';
import { queryOf } from './body.js';
import type { ApiContext } from './context.js';
import { withProject } from './project-access.js';

/** The report: its newest version, or the one that is asked for. */
export function reportRouter(context: ApiContext): Router {
  const router = express.Router();

  router.get('/api/projects/:project/report', async (request, response) => {
    const { version } = queryOf(request, reportQuery);
    const { project } = request.params;
    const report = chosen(await withProject(context, response, project, ({ reader }) => listReports(reader)), version);
    const file = join(context.cell.directory.projectDir(project), report.path);
    response.type('text/markdown; charset=utf-8').set({
      'suzumio-report-version': String(report.version),
      'content-length': String((await stat(file)).size),
    });
    if (request.method === 'HEAD') response.end();
    else await sendFile(response, createReadStream(file));
  });
  return router;
}

function chosen(reports: readonly ReportRow[], version: number | undefined): ReportRow {
  const newest = reports.at(-1);
  if (!newest) throw new SuzumioError('report-missing', 'No report has been submitted yet.');
  const report = version === undefined ? newest : reports.find((candidate) => candidate.version === version);
  if (report) return report;
  throw new SuzumioError('report-missing', `There is no version ${String(version)}; the newest is ${newest.version}.`);
}
