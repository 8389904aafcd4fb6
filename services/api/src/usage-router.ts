import { setImmediate as turnOfOthers } from 'node:timers/promises';
import express, { type Router } from 'express';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import {
  type BudgetListAnswer,
  budgetRequest,
  noQuery,
  type SummaryListAnswer,
  usageQuery,
} from '@suzumio/contract/model/http-api';
import type { UsageAnswer } from '@suzumio/contract/model/usage';
import { listBudgets } from '@suzumio/store/budgets/read-budgets';
import { listSummaries } from '@suzumio/store/turns/list-model-calls';
import { dayView, usageSlices, UsageSum } from '@suzumio/store/models/model-usage';
import { StoredSum } from '@suzumio/store/content/storage';
import { isBrokenProject } from '@suzumio/store/sqlite/store-fault';
import { changeBudget } from '@suzumio/store/budgets/change-budget';
import { identityOf } from './auth.js';
import { bodyOf, queryOf } from './body.js';
import { commitOnce, keyOf } from './commit-once.js';
import type { ApiContext } from './context.js';
import { withProject } from './project-access.js';

/** What models were asked and cost, what that may come to, and what they have made of earlier turns. */
export function usageRouter(context: ApiContext): Router {
  const router = express.Router();
  const { cell } = context;

  router.get('/api/usage', async (request, response) => {
    const { by, project, from, to } = queryOf(request, usageQuery);
    const own = identityOf(response).project ?? undefined;
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
      for (const { id } of cell.catalog.projects()) {
        // Nobody waits for it any more.
        if (response.closed) return;
        try {
          await add(id);
          await turnOfOthers();
        } catch (error) {
          // It was deleted since it was listed, or nobody can tell until its file is mended.
          if (!isSuzumioError(error, 'project-unknown') && !isBrokenProject(error)) throw error;
        }
      }
    }
    const today = own === undefined ? dayView(cell.catalog.spending.today(), context.budgetUsdPerDay) : null;
    const disk = own === undefined ? cell.disk : undefined;
    response.json(sum.answer(today, stored.view(only !== undefined, disk)) satisfies UsageAnswer);
  });

  router.get('/api/projects/:project/budget', async (request, response) => {
    queryOf(request, noQuery);
    const items = await withProject(context, response, request.params.project, (store) =>
      store.snapshot((reader) => listBudgets(reader, store.config)),
    );
    response.json({ items } satisfies BudgetListAnswer);
  });

  router.post('/api/projects/:project/budget', async (request, response) => {
    const { agent, ...change } = bodyOf(request, budgetRequest);
    const { project } = request.params;
    const key = keyOf(request, response);
    const { answer } = await withProject(context, response, project, (store) =>
      commitOnce(store, key, (tx): BudgetListAnswer => {
        changeBudget(tx, agent, change, identityOf(response).name);
        return { items: listBudgets(tx, tx.config) };
      }),
    );
    context.transport.wake(project);
    response.json(answer);
  });

  router.get('/api/projects/:project/agents/:agent/memory', async (request, response) => {
    queryOf(request, noQuery);
    const { project, agent } = request.params;
    const items = await withProject(context, response, project, ({ reader }) => listSummaries(reader, agent));
    response.json({ items } satisfies SummaryListAnswer);
  });
  return router;
}
