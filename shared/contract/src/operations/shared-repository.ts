import * as z from 'zod';
import { sharedDiffView, sharedPushView, sharedRefView } from '../model/shared-repository.js';
import { json, resource } from './operation.js';
import { listOf, noQuery, page, request } from './request.js';
import { waitTimeout } from './wait-timeout.js';

export const sharedPushesQuery = request(page);

export const sharedRefListAnswer = z.object({ items: z.array(sharedRefView) });

export const sharedPushListAnswer = listOf(sharedPushView);

export const sharedBundleQuery = request({
  ref: z.string().max(250).optional().describe('Only this branch or tag, by its whole name. Without it, all.'),
});

const commit = z.string().min(1).max(250);

export const sharedDiffQuery = request({
  from: commit
    .optional()
    .describe(
      "A branch, a tag, or a commit's id; of one that a push has named, its first seven characters are enough. Without it, `to` is compared with nothing.",
    ),
  to: commit.describe('The same: what it is compared with.'),
  common: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe(
      'Whether `to` is compared with the newest commit that both have in their history, and not with `from`: what a branch has changed since it left the other one.',
    ),
  timeout: waitTimeout,
});

/** The repository that a project's agents share. */
export const sharedRepository = resource('Git', {
  listSharedRefs: {
    method: 'get',
    path: '/api/projects/:project/git/refs',
    summary: "The branches and tags of the repository that a project's agents share.",
    description: 'Ordered by name, all of them.',
    query: noQuery,
    answers: { 200: { description: 'The list.', content: json(sharedRefListAnswer) } },
  },
  listSharedPushes: {
    method: 'get',
    path: '/api/projects/:project/git/pushes',
    summary: 'The pushes to that repository: who has moved which branches and tags, from where to where.',
    query: sharedPushesQuery,
    answers: { 200: { description: 'A part of the list.', content: json(sharedPushListAnswer) } },
  },
  getSharedBundle: {
    method: 'get',
    path: '/api/projects/:project/git/bundle',
    summary: 'That repository as a Git bundle, which `git clone` and `git fetch` take.',
    description:
      'Streamed. Everything that was pushed is in it, also what no branch has any more. Objects are as agents have pushed them: let Git check them, as in `git -c fetch.fsckObjects=true fetch`.',
    query: sharedBundleQuery,
    answers: {
      200: { description: 'The bundle.', content: { 'application/x-git-bundle': z.unknown() } },
    },
    refusals: ['git-ref-unknown'],
  },
  getSharedDiff: {
    method: 'get',
    path: '/api/projects/:project/git/diff',
    summary: 'What differs between two commits of that repository, and the commits between them.',
    description:
      'A worker compares them in a sandbox that has nothing else in it, one comparison of a project at a time, within a minute. What was made is kept by its two commits. While it is not there when the wait is over, `git-diff-pending` says so: ask again.',
    query: sharedDiffQuery,
    answers: { 200: { description: 'What differs.', content: json(sharedDiffView) } },
    refusals: [
      'git-not-shared',
      'git-ref-unknown',
      'git-commit-unknown',
      'git-diff-pending',
      'git-diff-no-worker',
      'git-diff-too-large',
      'git-diff-too-slow',
      'git-diff-failed',
      'server-unreachable',
    ],
  },
});
