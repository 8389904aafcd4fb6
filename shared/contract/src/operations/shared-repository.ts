import { sha256 } from '@suzumio/protocol/ids';
import { maxPackBytes, maxPushedRefs, refUpdate } from '@suzumio/protocol/shared-repository';
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

export const pushSharedRequest = request({
  updates: z
    .array(refUpdate)
    .min(1)
    .max(maxPushedRefs)
    .describe(
      'Branches and tags by their whole names, each with where it is now (`from`; null: nowhere) and where it is to be (`to`; null: deleted).',
    ),
  pack: sha256.optional().describe('A pack that was uploaded before. Without it, no object is new.'),
});

export const sharedPackAnswer = z.object({
  sha256,
  sizeBytes: z.int(),
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
  uploadSharedPack: {
    method: 'post',
    path: '/api/projects/:project/git/packs',
    scope: 'operate',
    summary: 'Stores what a push is to bring: a Git pack, for `pushShared` to name.',
    description: `The body is the pack, streamed, of ${maxPackBytes / 1024 ** 2} MiB at most, with its length in \`Content-Length\`. No pack may need objects that are not in it (\`git pack-objects --revs --stdout --delta-base-offset\`). One that no push names is removed after a day. Sent again, it changes nothing: it takes no \`Idempotency-Key\`.`,
    query: noQuery,
    upload: { media: 'application/octet-stream' },
    repeatable: false,
    answers: { 200: { description: 'It is stored.', content: json(sharedPackAnswer) } },
    refusals: ['git-not-shared', 'project-closed'],
  },
  getSharedPack: {
    method: 'get',
    path: '/api/projects/:project/git/packs/:pack',
    summary: 'What one push has brought, by the hash that the list of pushes names: a Git pack.',
    description:
      'Streamed. Objects are as they were pushed: let Git check them, as in `git index-pack --strict --stdin`.',
    query: noQuery,
    answers: { 200: { description: 'The pack.', content: { 'application/octet-stream': z.unknown() } } },
    refusals: ['git-pack-unknown'],
  },
  pushShared: {
    method: 'post',
    path: '/api/projects/:project/git/pushes',
    scope: 'operate',
    summary: 'Pushes to that repository: moves branches and tags, all that are named or none.',
    description:
      'Each is moved from where it is said to be; where another push came first, nothing is. Before it is taken, the pack is inspected as those of agents are. Nobody is told but by the timeline: agents see it when they fetch. Whether a branch moves forward is not looked at: `suzumio git push` does.',
    body: pushSharedRequest,
    answers: { 201: { description: 'It is pushed.', content: json(sharedPushView) } },
    refusals: [
      'git-not-shared',
      'project-closed',
      'git-ref-refused',
      'git-ref-moved',
      'git-refs-full',
      'git-pack-invalid',
      'content-missing',
      'idempotency-mismatch',
    ],
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
