import { setImmediate as turnOfOthers } from 'node:timers/promises';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { usage } from '@suzumio/contract/operations/usage';
import { listBudgets } from '@suzumio/store/budgets/read-budgets';
import { dayView, type UsageBy, usageSlices, UsageSum } from '@suzumio/store/models/model-usage';
import { StoredSum } from '@suzumio/store/content/storage';
import { isBrokenProject } from '@suzumio/store/sqlite/store-fault';
import { changeBudget } from '@suzumio/store/budgets/change-budget';
import { withProject } from '../project-access.js';
import type { Runs } from '../routes.js';

export const usageRuns: Runs<typeof usage> = {
  async getUsage({ context, response, identity, query: { by, project, from, to } }) {
    const { cell, budgetUsdPerDay } = context;
    const own = identity.project ?? undefined;
    const stored = new StoredSum(cell.storage);
    const only = project ?? own;
    /** Adds up what `sum` is by in all projects that are meant. */
    const addTo = async (sum: UsageSum, by: UsageBy, withStored: boolean) => {
      const add = (id: string) =>
        withProject(context, response, id, async ({ reader }) => {
          for (const part of usageSlices(reader, by, { fromMs: from, toMs: to })) {
            sum.add(id, part);
            await turnOfOthers();
          }
          if (withStored) stored.add(reader);
        });
      if (only !== undefined) return add(only);
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
    };
    const second = by.slice(1);
    // What is named is known before it is added up, so that no more is held than what the answer has.
    const seconds = second.length === 0 ? undefined : new UsageSum(second);
    if (seconds) await addTo(seconds, second, false);
    const sum = new UsageSum(by, seconds?.mostExpensive());
    await addTo(sum, by, true);
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
};
