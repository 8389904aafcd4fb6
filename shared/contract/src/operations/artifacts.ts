import { directoryEntry } from '@suzumio/protocol/artifacts';
import * as z from 'zod';
import { artifactName, maxArtifactDescription } from '../model/artifact-name.js';
import { artifactView } from '../model/artifact.js';
import { reportView } from '../model/report.js';
import { redactedAnswer, redactRequest } from './messages.js';
import { json, resource } from './operation.js';
import { listOf, noQuery, numeral, page, request, timeRange } from './request.js';

export const artifactsQuery = request({
  ...page,
  ...timeRange,
  name: z.string().max(200).optional().describe('Only those of this name, the newest last.'),
  prefix: z.string().max(200).optional().describe('Only those whose names begin so.'),
  creator: z.string().optional().describe('Only those that this agent, or `user`, has published.'),
  latest: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe(
      'With `true`, of each name only the newest, or the newest by `creator`, with the number of its `versions`.',
    ),
});

export const contentQuery = request({
  path: z.string().min(1).max(1024).optional().describe('One file of a directory.'),
});

export const uploadQuery = request({
  name: artifactName,
  description: z
    .string()
    .max(maxArtifactDescription)
    .optional()
    .describe('What is in it, for those who read the list.'),
});

export const archiveQuery = request({
  creator: z.string().optional().describe('Only what this agent, or `user`, has published.'),
});

export const reportQuery = request({
  version: numeral(1, Number.MAX_SAFE_INTEGER).optional().describe('Which version; without it, the newest.'),
});

/** What is in an artifact that is a directory: the files and directories, each directory before what is in it. */
export const entryListAnswer = z.object({ items: z.array(directoryEntry) });

export const artifactListAnswer = listOf(artifactView);

export const reportListQuery = request(page);

export const reportListAnswer = listOf(reportView);

const bytes = { 'application/octet-stream': z.unknown() };

const archive = { 'application/x-tar': z.unknown() };

const contentHeaders = {
  ETag: "The content's SHA-256.",
  'Content-Disposition': "The file's name.",
  'Accept-Ranges': 'Whether a part can be asked for.',
};

/** Published files and directories, and the report. */
export const artifacts = resource('Artifacts', {
  listArtifacts: {
    method: 'get',
    path: '/api/projects/:project/artifacts',
    summary: 'What has been published in a project, or what has one name, or the newest of each name.',
    query: artifactsQuery,
    answers: { 200: { description: 'A part of the list.', content: json(artifactListAnswer) } },
    refusals: ['agent-unknown'],
  },
  uploadArtifact: {
    method: 'post',
    path: '/api/projects/:project/artifacts',
    scope: 'mail',
    summary: 'Publishes a file of the person, which the agents may read.',
    description:
      'The body is the file, streamed. Another file of the same name is another version: nothing is overwritten.',
    query: uploadQuery,
    upload: { media: 'application/octet-stream' },
    answers: {
      201: {
        description: 'The file is published.',
        content: json(artifactView),
        headers: { Location: 'Where the artifact is.' },
      },
    },
    refusals: ['idempotency-mismatch'],
  },
  getArtifactsArchive: {
    method: 'get',
    path: '/api/projects/:project/artifacts-archive',
    summary: 'Everything that is published in a project, as a tar: of each name the newest version.',
    description:
      'Streamed, always in full. All of it is in one directory, `PROJECT-artifacts`. What was redacted is left out; what no file system could call by its name, or what some could not tell from another by it, has its id in its name, and so has what comes after 20,000 others.',
    query: archiveQuery,
    answers: {
      200: {
        description: 'The archive.',
        content: archive,
        headers: { 'Content-Disposition': "The file's name." },
      },
    },
    refusals: ['agent-unknown'],
  },
  getArtifact: {
    method: 'get',
    path: '/api/projects/:project/artifacts/:artifact',
    summary: 'What is known of a published file or directory.',
    query: noQuery,
    answers: { 200: { description: 'The artifact.', content: json(artifactView) } },
    refusals: ['artifact-unknown'],
  },
  listArtifactEntries: {
    method: 'get',
    path: '/api/projects/:project/artifacts/:artifact/entries',
    summary: 'What is in a published directory.',
    description: 'In one answer, ordered by path.',
    query: noQuery,
    answers: { 200: { description: 'All of it.', content: json(entryListAnswer) } },
    refusals: ['artifact-unknown', 'artifact-redacted', 'artifact-entry-unknown'],
  },
  getArtifactContent: {
    method: 'get',
    path: '/api/projects/:project/artifacts/:artifact/content',
    summary: 'The bytes of a published file; a directory as a tar, or with `path` the bytes of a file in it.',
    description: 'Streamed. Supports ranges of files, and `If-None-Match` with the `ETag`, which is the SHA-256.',
    query: contentQuery,
    headers: {
      'If-None-Match': { description: 'An `ETag` that the client has.', schema: z.string().optional() },
      Range: { description: 'The part that is wanted, such as `bytes=1000-`.', schema: z.string().optional() },
      'If-Range': { description: 'The `ETag` of which it is a part.', schema: z.string().optional() },
    },
    answers: {
      200: { description: 'The bytes.', content: { ...bytes, ...archive }, headers: contentHeaders },
      206: {
        description: 'The part.',
        content: bytes,
        headers: { ...contentHeaders, 'Content-Range': 'Which part of how many bytes it is.' },
      },
      304: { description: 'The client has them.' },
    },
    refusals: ['artifact-unknown', 'artifact-redacted', 'artifact-entry-unknown', 'range-not-satisfiable'],
  },
  viewArtifact: {
    method: 'get',
    path: '/api/projects/:project/artifacts/:artifact/view',
    summary: 'A published page of HTML or picture of SVG, or with `path` one in a directory, to be shown in a frame.',
    description:
      'In a sandbox: it runs no scripts, loads nothing, sends no forms, and has an origin of its own, without cookies. Only pages of this server may frame it, and it is shown nowhere else.',
    query: contentQuery,
    answers: {
      200: {
        description: 'What is shown.',
        content: { 'text/html': z.string(), 'image/svg+xml': z.unknown() },
        headers: { 'Content-Security-Policy': 'What keeps it in its sandbox.' },
      },
    },
    refusals: ['artifact-unknown', 'artifact-redacted', 'artifact-entry-unknown'],
  },
  redactArtifact: {
    method: 'post',
    path: '/api/projects/:project/artifacts/:artifact/redact',
    scope: 'admin',
    summary:
      'Removes the content and description of a published file or directory, and copies in what the project has recorded.',
    description:
      'It cannot be had back. Agents that know it begin their turns anew. Bytes that other artifacts, a report or a workspace use stay for those.',
    body: redactRequest,
    answers: {
      200: { description: 'It is redacted, by this request or an earlier one.', content: json(redactedAnswer) },
    },
    refusals: ['artifact-unknown', 'idempotency-mismatch'],
  },
  listReports: {
    method: 'get',
    path: '/api/projects/:project/reports',
    summary: 'The versions of the report: who submitted each, when, and what was decided on it.',
    query: reportListQuery,
    answers: { 200: { description: 'A part of the list.', content: json(reportListAnswer) } },
  },
  getReport: {
    method: 'get',
    path: '/api/projects/:project/report',
    summary: 'The submitted report; the newest version, unless another is asked for.',
    query: reportQuery,
    answers: {
      200: {
        description: 'The report.',
        content: { 'text/markdown': z.string() },
        headers: { 'Suzumio-Report-Version': 'Which version it is.' },
      },
    },
    refusals: ['report-missing'],
  },
});
