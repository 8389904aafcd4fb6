import { setImmediate as turnOfOthers } from 'node:timers/promises';
import type { Response } from 'express';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ProjectDetailAnswer, ProjectListAnswer } from '@suzumio/contract/operations/projects';
import type { ListedProject } from '@suzumio/store/cell/project-index';
import { listAgents } from '@suzumio/store/projects/agents';
import { storageReached } from '@suzumio/store/content/storage';
import { budgetsReached } from '@suzumio/store/budgets/read-budgets';
import { listModelFaults } from '@suzumio/store/models/model-faults';
import { pageBytes } from '@suzumio/store/sqlite/page';
import { readProject } from '@suzumio/store/projects/read-project';
import { isBrokenProject } from '@suzumio/store/sqlite/store-fault';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import type { ApiContext } from '../context.js';
import { withProject } from '../project-access.js';

/** How many projects a list with details has: each is a database to open. */
const mostDetails = 250;

/** A project with its agents, as its own address returns it. */
export function detailOf({ cell }: ApiContext, store: ProjectStore): ProjectDetailAnswer {
  return store.snapshot((reader) => ({
    project: readProject(reader),
    agents: listAgents(reader),
    cellPaused: cell.catalog.pause.current,
    budgetsReached: budgetsReached(reader, store.config, cell.catalog.spending.budget),
    storageReached: storageReached(reader, store.storage, cell.disk),
    modelFaults: listModelFaults(reader, store.config),
  }));
}

/**
 * Projects with details, until the page is full or the client disconnects; other requests are handled in between.
 *
 * @returns the page, and the last project that was read
 */
export async function withDetails(
  context: ApiContext,
  response: Response,
  listed: readonly ListedProject[],
  include: 'counts' | 'detail',
): Promise<{ items: ProjectListAnswer['items']; last: ListedProject | undefined }> {
  const items: ProjectListAnswer['items'] = [];
  let last: ListedProject | undefined;
  let bytes = 0;
  for (const project of listed.slice(0, mostDetails)) {
    if (bytes >= pageBytes || response.closed) break;
    last = project;
    try {
      const read = await withProject(context, response, project.id, (store) =>
        include === 'counts' ? { counts: store.snapshot(readProject) } : { detail: detailOf(context, store) },
      );
      bytes += Buffer.byteLength(JSON.stringify(read));
      const { status } = 'counts' in read ? read.counts : read.detail.project;
      items.push({ id: project.id, status, labels: project.labels, ...read });
    } catch (error) {
      if (isBrokenProject(error)) {
        items.push({
          id: project.id,
          status: project.status,
          labels: project.labels,
          problem: { code: error.code, detail: error.message },
        });
      } else if (!isSuzumioError(error, 'project-unknown')) {
        // The project still exists: the error is another one.
        throw error;
      }
    }
    await turnOfOthers();
  }
  return { items, last };
}
