import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { ContentStore } from '@suzumio/store/content/content-store';
import { publishedDirectory } from '@suzumio/store/content/directories';
import { readCellPause } from '@suzumio/store/cell/cell-pause';
import { listAgents } from '@suzumio/store/projects/agents';
import { findArtifact, listArtifacts } from '@suzumio/store/content/artifacts';
import { budgetsReached, listBudgets } from '@suzumio/store/budgets/read-budgets';
import { listEvents } from '@suzumio/store/projects/events';
import { listInbox, listMessages, listThread } from '@suzumio/store/mail/messages';
import type { StorageLimits } from '@suzumio/contract/model/storage';
import { storageReached, StoredSum } from '@suzumio/store/content/storage';
import { DiskSpace } from '@suzumio/store/sqlite/disk-space';
import { loadPolicy } from '@suzumio/runtime/disk/load-policy';
import { policyFile } from '../host-policy.js';
import { listSummaries } from '@suzumio/store/turns/list-model-calls';
import { dayView, projectUsage, UsageSum } from '@suzumio/store/models/model-usage';
import { readMessageDetail } from '@suzumio/store/turns/receipts';
import { listReports } from '@suzumio/store/content/reports';
import { readConfig, readProject } from '@suzumio/store/projects/read-project';
import { readCatalogFacts } from '@suzumio/store/cell/services';
import { listTasks } from '@suzumio/store/mail/tasks';
import { listConversation } from '@suzumio/store/turns/conversation';
import { findTurn, listToolCalls, listTurns, turnCalled } from '@suzumio/store/turns/read-turns';
import { readProjectFacts } from '@suzumio/store/projects/why';
import { ReadOnlyCell } from '@suzumio/store/cell/read-only-cell';
import { agentRow } from '@suzumio/store/rows';
import { readDayBudget, spendingOn } from '@suzumio/store/models/spending';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import { readTurnLog } from '@suzumio/store/content/turn-logs';
import { whyAnswerOf } from '@suzumio/core/why/reasons';
import { isBrokenProject } from '@suzumio/store/sqlite/store-fault';
import type { Session } from '../session.js';
import { dayBudgetOf } from '../day-budget.js';
import { artifactUnknown } from './api-client.js';
import type { ListedDetails, ProjectDetail, ProjectReads } from './project-reads.js';

/** The facts of a service that left no trace. */
const gone = { alive: false, seenAtMs: null };

/** Reads the data directory itself: for when no server runs. */
export function createStoreReads(session: Session): ProjectReads {
  const {
    root,
    context: { env, now },
  } = session;
  const cell = new ReadOnlyCell(root);
  const budgetUsdPerDay = dayBudgetOf(env);
  const storageLimits = () => loadPolicy(policyFile(session)).storage;
  const diskOf = ({ reserve }: StorageLimits) => (cell.directory.exists() ? new DiskSpace(root, reserve) : undefined);
  const reached = (reader: SqlReader) => {
    const limits = storageLimits();
    return storageReached(reader, limits, diskOf(limits));
  };
  const read = <Result>(project: string, query: (reader: SqlReader) => Result): Promise<Result> =>
    Promise.resolve().then(() => cell.read(project, query));
  const contentOf = (project: string) => new ContentStore(cell.directory.projectDir(project));
  const detail = (project: string): Promise<ProjectDetail> =>
    read(project, (reader) => ({
      project: readProject(reader),
      agents: listAgents(reader),
      cellPaused: cell.readCatalog(readCellPause) ?? null,
      budgetsReached: budgetsReached(
        reader,
        readConfig(reader),
        cell.readCatalog((catalog) => readDayBudget(catalog, now())),
      ),
      storageReached: reached(reader),
    }));
  /** Whether a project's file can be read: the costs of a broken project are unknown. */
  const usable = (project: string): boolean => {
    try {
      cell.read(project, () => undefined);
      return true;
    } catch (error) {
      if (isBrokenProject(error)) return false;
      throw error;
    }
  };
  return {
    projects: () => Promise.resolve().then(() => cell.projects()),
    async details({ labels = {}, statuses }) {
      const isWanted = (one: Pick<ProjectDetail['project'], 'status' | 'labels'>) =>
        (statuses?.includes(one.status) ?? true) &&
        Object.entries(labels).every(([key, value]) => one.labels[key] === value);
      const catalogued = new Map(cell.catalogued().map((one) => [one.id, one]));
      const broken: ListedDetails['broken'] = [];
      const read = async (id: string) => {
        try {
          return [await detail(id)];
        } catch (error) {
          if (!isBrokenProject(error)) throw error;
          // What it is filed under, and how it stood, its own files cannot tell.
          const last = catalogued.get(id);
          if (!last || isWanted(last)) broken.push({ id, code: error.code, detail: error.message });
          return [];
        }
      };
      const all = (await Promise.all(cell.projects().map(read))).flat();
      return { details: all.filter(({ project }) => isWanted(project)), broken };
    },
    detail,
    why: (project, agent) =>
      read(project, (reader) => {
        const nowMs = now();
        const facts = readProjectFacts(reader, readConfig(reader), agent, { nowMs, storageReached: reached(reader) });
        const unknown = {
          paused: null,
          scheduler: gone,
          toolhost: gone,
          providersAway: new Map<string, number>(),
          waitingLine: [],
          day: null,
        };
        const around = cell.readCatalog((catalog) => readCatalogFacts(catalog, project, nowMs)) ?? unknown;
        return whyAnswerOf(facts, { id: '', ...around, fleet: null }, nowMs);
      }),
    messages: (project, limit) => read(project, (reader) => listMessages(reader, { limit })),
    message: (project, name) => read(project, (reader) => readMessageDetail(reader, name)),
    thread: (project, name, limit) => read(project, (reader) => listThread(reader, name, { limit })),
    inbox: (project, limit, { agent, undelivered }) =>
      read(project, (reader) => {
        if (agent !== undefined) agentRow(reader, agent);
        return listInbox(reader, { limit, agent, undelivered });
      }),
    tasks: (project, limit, which) => read(project, (reader) => listTasks(reader, { limit, ...which })),
    turns: (project, limit, agent) =>
      read(project, (reader) => {
        if (agent !== undefined) agentRow(reader, agent);
        return listTurns(reader, { limit, agent });
      }),
    async turn(project, name) {
      return read(project, (reader) => {
        const turn = findTurn(reader, turnCalled(reader, name).id);
        if (!turn) throw new Error(`${name} went away`);
        return turn;
      });
    },
    conversation: (project, name) =>
      read(project, (reader) => {
        const turn = turnCalled(reader, name).id;
        return listConversation(reader, readConfig(reader), turn, { limit: 100_000 }, Infinity);
      }),
    async log(project, turn, attempt) {
      const { id } = await read(project, (reader) => turnCalled(reader, turn));
      return readTurnLog(cell.directory.projectDir(project), { turn_id: id, number: attempt });
    },
    toolCalls: (project, limit, turn) =>
      read(project, (reader) =>
        listToolCalls(reader, { limit, ...(turn === undefined ? {} : { turn: turnCalled(reader, turn).id }) }),
      ),
    artifacts: (project, limit) => read(project, (reader) => listArtifacts(reader, { limit })),
    async artifact(project, name) {
      const artifact = await read(
        project,
        (reader) => findArtifact(reader, { id: name }) ?? findArtifact(reader, { name }),
      );
      if (artifact) return artifact;
      throw artifactUnknown(project, name);
    },
    entries: async (project, { sha256 }) => (await publishedDirectory(contentOf(project), sha256)).entries,
    async content(project, artifact, file) {
      const { sha256 } = file ?? artifact;
      const content = contentOf(project);
      if ((await content.sizeOf(sha256)) !== undefined) return content.read(sha256);
      throw new SuzumioError('store-corrupt', `The content ${sha256} of "${artifact.name}" is missing.`);
    },
    events: (project, limit) => read(project, (reader) => listEvents(reader, { limit })),
    async usage({ by, project, from, to }) {
      const sum = new UsageSum(by);
      const limits = storageLimits();
      const stored = new StoredSum(limits);
      for (const id of project === undefined ? cell.projects().filter(usable) : [project]) {
        await read(id, (reader) => {
          sum.add(id, projectUsage(reader, by, { fromMs: from, toMs: to }));
          stored.add(reader);
        });
      }
      const spending = cell.readCatalog((reader) => spendingOn(reader, now()));
      const today = spending === undefined ? null : dayView(spending, budgetUsdPerDay);
      return sum.answer(today, stored.view(project !== undefined, diskOf(limits)));
    },
    budgets: (project) => read(project, (reader) => listBudgets(reader, readConfig(reader))),
    memory: (project, agent) => read(project, (reader) => listSummaries(reader, agent)),
    async report(project, version) {
      const reports = await read(project, listReports);
      const report = version === undefined ? reports.at(-1) : reports.find((one) => one.version === version);
      if (report) return readFile(join(cell.directory.projectDir(project), report.path), 'utf8');
      const there = reports.length === 0 ? 'none has been submitted yet' : `there are versions 1 to ${reports.length}`;
      const which = version === undefined ? 'report' : `version ${version} of its report`;
      throw new SuzumioError('report-missing', `${project} has no ${which}: ${there}.`);
    },
  };
}
