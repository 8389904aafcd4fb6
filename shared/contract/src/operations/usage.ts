import { projectId } from '@suzumio/protocol/ids';
import * as z from 'zod';
import { budgetChange, budgetView } from '../model/budget.js';
import { mostNamed, usageAnswer, type UsageGroup, usageGroups, usagePairs } from '../model/usage.js';
import { json, resource } from './operation.js';
import { moment, noQuery, request } from './request.js';

export const usageQuery = request({
  by: z
    .enum([...usageGroups, ...usagePairs])
    .default('project')
    .transform((by) => by.split(',') as UsageGroup[])
    .describe(
      `What calls are added up by. By two at once, such as \`day,agent\`, each row is of one of both: of the second, the ${mostNamed} that cost most are named, and the others of each \`key\` are added up.`,
    ),
  project: projectId.optional().describe('Only those of this project.'),
  from: moment.optional().describe('Calls that ended from then on: a day of UTC, or a moment.'),
  to: moment.optional().describe('Calls that ended before then: a day of UTC, or a moment.'),
});

/** Limits over those of the project file; what is not named stays. At least one. */
export const budgetRequest = request({
  ...budgetChange.shape,
  agent: z.string().max(200).optional().describe("Whose budget; without it, the project's."),
}).refine(({ tokens, usd, turns }) => (tokens ?? usd ?? turns) !== undefined, {
  error: 'name a limit: tokens, usd or turns',
});

export const budgetListAnswer = z.object({ items: z.array(budgetView) });
export type BudgetListAnswer = z.infer<typeof budgetListAnswer>;

/** The costs of models, and their budgets. */
export const usage = resource('Usage', {
  getUsage: {
    method: 'get',
    path: '/api/usage',
    summary: 'What calls of models came to, and what is stored, in the projects that the token may read.',
    description:
      'Sums of calls that ended in the time asked for, in UTC. A token for one project reads that project alone.',
    query: usageQuery,
    answers: { 200: { description: 'The sums.', content: json(usageAnswer) } },
  },
  getBudget: {
    method: 'get',
    path: '/api/projects/:project/budget',
    summary: 'The budget of a project and those of its agents, with what is used of each.',
    query: noQuery,
    answers: { 200: { description: 'The budgets.', content: json(budgetListAnswer) } },
  },
  changeBudget: {
    method: 'post',
    path: '/api/projects/:project/budget',
    summary: 'Sets limits of a budget over those of the project file.',
    description:
      'Limits that are not named stay. What has been used stays used; a limit below it keeps agents from new turns. Dollars are refused where a preset has no price.',
    body: budgetRequest,
    answers: { 200: { description: 'The budgets as they are now.', content: json(budgetListAnswer) } },
    refusals: ['agent-unknown', 'budget-refused', 'idempotency-mismatch'],
  },
});
