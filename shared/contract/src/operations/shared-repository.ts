import { z } from 'zod';
import { sharedPushView, sharedRefView } from '../model/shared-repository.js';
import { json, resource } from './operation.js';
import { listOf, noQuery, page, request } from './request.js';

export const sharedPushesQuery = request(page);

export const sharedRefListAnswer = z.object({ items: z.array(sharedRefView) });

export const sharedPushListAnswer = listOf(sharedPushView);

export const sharedBundleQuery = request({
  ref: z.string().max(250).optional().describe('Only this branch or tag, by its whole name. Without it, all.'),
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
});
