import * as z from 'zod';
import { configChange } from '../model/config-change.js';
import { configVersionView } from '../model/config-version.js';
import { projectConfig } from '../model/project-config.js';
import { json, resource } from './operation.js';
import { createProjectRequest } from './projects.js';
import { listOf, numeral, pageQuery, request } from './request.js';

const number = z.int().min(1);

/** A file for a project that is there, or a version of its own file. */
const wanted = {
  file: createProjectRequest.shape.file
    .optional()
    .describe(
      "A project file's text, taken literally. A value of `(hidden)`, as the file is shown, means the one that is there.",
    ),
  revert: number
    .optional()
    .describe('Instead of a file: the version that is to be in force again, as it was resolved.'),
};

const eitherOf = ({ file, revert }: { file?: string | undefined; revert?: number | undefined }) =>
  (file === undefined) !== (revert === undefined);
const oneOfBoth = { error: 'send a file, or the version to revert to' };

export const diffConfigRequest = request(wanted).refine(eitherOf, oneOfBoth);

export const applyConfigRequest = request({
  ...wanted,
  baseVersion: number.describe('The version that was read before: it is refused where another one is the newest.'),
}).refine(eitherOf, oneOfBoth);

export const compareVersionsQuery = request({
  from: numeral(1, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('The version to compare with; without it, the one before.'),
});

export const configVersionListAnswer = listOf(configVersionView);

export const configVersionQuery = request({
  rendered: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('Whether the answer has its text with everything resolved, too.'),
});

export const configVersionAnswer = configVersionView.extend({
  file: z
    .string()
    .nullable()
    .describe('Its text, as `getProjectSource` shows it; null where it is not there any more.'),
  config: projectConfig.describe('What it was resolved to, as `getResolvedConfig` shows it.'),
  rendered: z
    .exactOptional(z.string())
    .describe(
      'Its text with everything resolved, as a file that can be applied from anywhere; where that was asked for.',
    ),
});
export type ConfigVersionAnswer = z.infer<typeof configVersionAnswer>;

const changes = z.array(configChange).describe('The fields that differ; none where both say the same.');

export const compareVersionsAnswer = z.object({ from: number, version: number, changes });

export const diffConfigAnswer = z.object({
  version: number.describe('The newest version, with which it was compared.'),
  changes,
  warnings: z.array(z.string()).describe('What is allowed in the file and probably not meant.'),
  notes: z.array(z.string()).describe('What the file has of the published format that has no effect here, and why.'),
});
export type DiffConfigAnswer = z.infer<typeof diffConfigAnswer>;

export const applyConfigAnswer = diffConfigAnswer.extend({
  version: number.describe('The version that is in force: the one before, where nothing was changed.'),
});
export type ApplyConfigAnswer = z.infer<typeof applyConfigAnswer>;

const fileRefusals = [
  'policy-denied',
  'invalid-config',
  'not-supported-yet',
  'profile-unknown',
  'profile-retired',
  'config-version-unknown',
] as const;

/** The versions of a project's file. */
export const configs = resource('Projects', {
  listConfigVersions: {
    method: 'get',
    path: '/api/projects/:project/config/versions',
    summary: "The versions of a project's file.",
    description: 'The first is the file that the project was made from, the last the one that is in force.',
    query: pageQuery,
    answers: { 200: { description: 'A part of the list.', content: json(configVersionListAnswer) } },
  },
  getConfigVersion: {
    method: 'get',
    path: '/api/projects/:project/config/versions/:version',
    summary: "A version of a project's file: its text, and what it was resolved to.",
    description: 'Values of variables and of headers are `(hidden)`. Applied again, they stay what they are.',
    query: configVersionQuery,
    answers: { 200: { description: 'The version.', content: json(configVersionAnswer) } },
    refusals: ['config-version-unknown'],
  },
  compareConfigVersions: {
    method: 'get',
    path: '/api/projects/:project/config/versions/:version/changes',
    summary: "What a version of a project's file changed, or how it differs from another one.",
    query: compareVersionsQuery,
    answers: { 200: { description: 'The differences.', content: json(compareVersionsAnswer) } },
    refusals: ['config-version-unknown'],
  },
  diffConfig: {
    method: 'post',
    path: '/api/projects/:project/config/diff',
    writes: false,
    repeatable: false,
    summary: 'What `applyConfig` would change, without changing it.',
    description:
      'The file is checked as where a project is made from it. Changes that a living project cannot take are among the others, as `refused`.',
    body: diffConfigRequest,
    answers: { 200: { description: 'The differences.', content: json(diffConfigAnswer) } },
    refusals: fileRefusals,
  },
  applyConfig: {
    method: 'put',
    path: '/api/projects/:project/config',
    repeatable: true,
    summary: "Puts a new version of a project's file in force.",
    description:
      "Each agent has it from its next turn; a turn that has begun ends with what it began with, except that tools which are taken away are refused at once, and budgets count at once. Agents that are new are quiet until they get mail; one that is in the file no more is retired: its turn is cancelled, its mail undelivered, and its id stays taken. All of it is one transaction. Where another version is the newest, `changes` tells what has changed since. A token of one project can name no profile that the project's agents have not.",
    body: applyConfigRequest,
    answers: { 200: { description: 'It is in force.', content: json(applyConfigAnswer) } },
    refusals: [...fileRefusals, 'config-conflict', 'config-change-refused', 'idempotency-mismatch'],
  },
});
