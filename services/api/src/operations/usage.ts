import { setImmediate as turnOfOthers } from 'node:timers/promises';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { usage } from '@suzumio/contract/operations/usage';
import { listBudgets } from '@suzumio/store/budgets/read-budgets';
import { listSummaries } from '@suzumio/store/turns/list-model-calls';
import { dayView, usageSlices, UsageSum } from '@suzumio/store/models/model-usage';
import { StoredSum } from '@suzumio/store/content/storage';
import { isBrokenProject } from '@suzumio/store/sqlite/store-fault';
import { changeBudget } from '@suzumio/store/budgets/change-budget';
import { withProject } from '../project-access.js';
import type { Runs } from '../routes.js';

export const usageRuns: Runs<typeof usage> = {
  async getUsage({ context, response, identity, query: { by, project, from, to } }) {
    const { cell, budgetUsdPerDay } = context;
    const own = identity.project ?? undefined;
    const sum = new UsageSum(by);
    const stored = new StoredSum(cell.storage);
    const add = (id: string) =>
      withProject(context, response, id, async ({ reader }) => {
        for (const part of usageSlices(reader, by, { fromMs: from, toMs: to })) {
          sum.add(id, part);
          await turnOfOthers();
        }
        stored.add(reader);
      });
    const only = project ?? own;
    if (only !== undefined) await add(only);
    else {
      for (const { id } of cell.catalog.projects.all()) {
        // The client has disconnected.
        if (response.closed) break;
        try {
          await add(id);
          await turnOfOthers();
        } catch (error) {
          // The project was deleted since it was listed, or its file is broken.
          if (!isSuzumioError(error, 'project-unknown') && !isBrokenProject(error)) throw error;
        }
      }
    }
    const today = own === undefined ? dayView(cell.catalog.spending.today(), budgetUsdPerDay) : null;
    const disk = own === undefined ? cell.disk : undefined;
    return sum.answer(today, stored.view(only !== undefined, disk));
  },

  getBudget: (call) => call.read((reader, { config }) => ({ items: listBudgets(reader, config) })),

  changeBudget: (call) =>
    call.write((tx) => {
      const { agent, ...change } = call.body;
      changeBudget(tx, agent, change, call.actor);
      return { items: listBudgets(tx, tx.config) };
    }),

  getMemory: (call) => call.read((reader) => ({ items: listSummaries(reader, call.params.agent) })),
};
