import { noQuery, budgetListAnswer, budgetRequest, summaryListAnswer, usageQuery } from '../model/http-api.js';
import { usageAnswer } from '../model/usage.js';
import { json, resource } from './operation.js';

/** What models cost, and what that may come to. */
export const usage = resource('Usage', {
  getUsage: {
    method: 'get',
    path: '/api/usage',
    summary: 'What calls of models came to, and what is stored, in the projects that the token may read.',
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
    body: budgetRequest,
    answers: { 200: { description: 'The budgets as they are now.', content: json(budgetListAnswer) } },
    refusals: ['agent-unknown', 'budget-refused', 'idempotency-mismatch'],
  },
  getMemory: {
    method: 'get',
    path: '/api/projects/:project/agents/:agent/memory',
    summary: 'What an agent remembers of turns that it is no longer told of in full, the newest first.',
    query: noQuery,
    answers: { 200: { description: 'The summaries.', content: json(summaryListAnswer) } },
    refusals: ['agent-unknown'],
  },
});
