import type { EventType } from '@suzumio/contract/model/event';
import { visibleLines } from '@suzumio/core/prompt/body';
import { browserOpens } from '../browser.js';
import { findReads } from '../reach/reach.js';
import { count } from '../render/format.js';
import { eventTable, reportTable } from '../render/tables.js';
import { say, sayHint, sayJson, type Session } from '../session.js';
import type { writeReportPage } from '../report/write-report-page.js';
import type { Register } from './action.js';
import { gatherEventTypes, wholeNumber } from './arguments.js';
import { examples } from './help.js';
import { type OrderOptions, sayList, sayRows, type TimeOptions, timesOf, withOrder, withTimes } from './list.js';
import { tell } from './tell.js';

/** What a project leaves to be read. */
export const registerRecords: Register = (program, action) => {
  examples(
    withOrder(
      withTimes(
        program
          .command('events <project>')
          .description('list what happened')
          .option('--type <type>', 'only those of a type, or of several with commas between them', gatherEventTypes)
          .option('--agent <agent>', 'only those about one agent'),
      ),
    ),
    ['events newsroom --limit 200'],
    ['events newsroom --type turn.failed --since 1d', 'what failed, and why'],
    ["events newsroom --json | jq '.[].data'", 'all that each says'],
  ).action(action(events));
  examples(
    program
      .command('report <project>')
      .description('print the report, the newest or one version of it')
      .option('--report-version <n>', 'an earlier version', wholeNumber(1, 1_000_000))
      .option('--versions', 'list the versions, and what was decided on each')
      .option('--open [file]', 'write it with the files that it names as one page of HTML, and open it in a browser'),
    ['report newsroom', 'the newest version'],
    ['report newsroom --versions', 'who submitted each, and what was decided'],
    ['report newsroom --open', 'with its pictures, in a browser'],
    ['report newsroom --open bulletin.html', 'to pass on'],
    ['report newsroom --report-version 1 > first.md'],
  ).action(action(report));
};

interface EventsOptions extends OrderOptions, TimeOptions {
  type?: EventType[];
  agent?: string;
}

async function events(session: Session, project: string, options: EventsOptions): Promise<undefined> {
  const { type: types, agent } = options;
  const filters = { ...timesOf(session, options), types, agent };
  const api = await findReads(session);
  const listing = { project, of: 'events', filters, toTable: eventTable };
  await sayList(session, options, listing, (page) => api.listEvents({ project, query: { ...page, ...filters } }));
}

interface ReportOptions {
  reportVersion?: number;
  versions?: true;
  open?: string | true;
}

async function report(session: Session, project: string, options: ReportOptions): Promise<undefined> {
  const api = await findReads(session);
  if (options.versions) {
    const { items } = await api.listReports({ project, query: { limit: 1_000 } });
    sayRows(session, items, 'No report has been submitted yet.', reportTable);
    return;
  }
  const text = await api.getReport({ project, query: { version: options.reportVersion } });
  const version = async () => options.reportVersion ?? (await api.getProject({ project })).project.reportVersion ?? 1;
  if (options.open !== undefined) {
    await openReport(session, api, { project, text, version: await version(), file: options.open });
    return;
  }
  if (session.json) {
    sayJson(session, { project, version: await version(), text });
    return;
  }
  // Unchanged into a pipe, as a text file; without control characters on a terminal.
  const { out } = session.context;
  out.write(out.isTerminal ? `${visibleLines(text.trimEnd()).join('\n')}\n` : text.endsWith('\n') ? text : `${text}\n`);
  if (!out.isTerminal) return;
  const { project: of } = await api.getProject({ project });
  if (of.status !== 'submitted') return;
  say(session, '');
  const decisions = [`approve ${project}`, `request-changes ${project} ${of.reportBy ?? 'AGENT'} "…"`];
  sayHint(session, ...decisions, `open ${project} --at report`);
}

/** Writes a report with its files as one page, and opens it for a person; a program has the file. */
async function openReport(
  session: Session,
  api: Parameters<typeof writeReportPage>[0],
  asked: Parameters<typeof writeReportPage>[1],
): Promise<void> {
  const page = await import('../report/write-report-page.js');
  const { path, files } = await page.writeReportPage(api, asked);
  const opened = !session.json && (await browserOpens(path));
  const held = files.filter(({ content }) => content !== undefined).length;
  const names = files.map(({ name }) => name);
  tell(session, { project: asked.project, version: asked.version, file: path, files: names, opened }, [
    `Wrote ${path}, with ${count(held, 'file')} that the report names.${opened ? ' It is open in your browser.' : ''}`,
    ...files.flatMap(({ name, left }) => (left === undefined ? [] : [`Not in it: ${name}. ${left}`])),
  ]);
}
