import { projectId } from '@suzumio/protocol/ids';
import * as z from 'zod';
import { budgetConfig } from '../model/project-config.js';
import { createProjectRequest } from './projects.js';
import { json, resource } from './operation.js';
import { noQuery, request } from './request.js';

export const checkProjectFileRequest = request({ file: createProjectRequest.shape.file });

export const fileProblem = z.object({
  code: z.string().describe('What kind of problem it is, such as `field-unknown` or `policy-denied`.'),
  line: z.int().describe('Counted from 1.'),
  column: z.int().describe('Counted from 1.'),
  path: z.string().nullable().describe('The field, such as `agents.editor.tools[0]`; null where it is about none.'),
  message: z.string(),
});
export type FileProblem = z.infer<typeof fileProblem>;

const filedAgent = z.object({
  id: z.string(),
  displayName: z.string().nullable(),
  role: z.string(),
  backend: z.enum(['docker', 'process', 'external']).describe('What its turns run in.'),
  model: z
    .string()
    .nullable()
    .describe('The preset that it thinks with; null where a script is played or a handler answers.'),
  budget: budgetConfig.nullable(),
});

/** What a project file asks for. */
export const filedProject = z.object({
  name: z.string(),
  task: z.string().describe('Its first 2000 characters.'),
  agents: z.array(filedAgent).describe('The first 100 agents.'),
  agentCount: z.int(),
  channels: z.int(),
  budget: budgetConfig.nullable(),
  image: z.string().nullable().describe('The image of its containers; null where no agent runs in one.'),
  network: z.string().nullable().describe('The network of its containers.'),
  providers: z
    .array(z.object({ address: z.string(), key: z.string().describe('The variable in which its key is.') }))
    .describe('The model providers that it asks.'),
  directories: z.array(z.string()).describe('Directories of the server that it mounts or copies; the first 100.'),
  repositories: z.array(z.string()).describe('What it clones; the first 100.'),
});
export type FiledProject = z.infer<typeof filedProject>;

export const checkProjectFileAnswer = z.object({
  problems: z.array(fileProblem).describe('Why it would be refused, by line; the first 200. Empty where it would do.'),
  warnings: z.array(fileProblem).describe('What is allowed in the file and probably not meant.'),
  notes: z.array(fileProblem).describe('What the file has of the published format that has no effect here, and why.'),
  project: filedProject.nullable().describe('What it would be; null where the file cannot be read so far.'),
});
export type CheckProjectFileAnswer = z.infer<typeof checkProjectFileAnswer>;

export const example = z.object({
  id: z.string().describe('The name of the example, which is that of its file.'),
  project: projectId.describe('The name that its project would have: its own, or one that is free.'),
  title: z.string(),
  description: z.string(),
  agents: z.int(),
  file: z.string().describe('Its project file, which needs no other: `createProject` takes it as it is.'),
  mail: z
    .object({ recipient: z.string(), body: z.string() })
    .nullable()
    .describe('The mail with which it begins; null where it has none.'),
  obstacles: z
    .array(z.string())
    .describe('Why it cannot run on this server, as far as that is known. Empty where nothing speaks against it.'),
});
export type Example = z.infer<typeof example>;

export const exampleListAnswer = z.object({ items: z.array(example) });
export type ExampleListAnswer = z.infer<typeof exampleListAnswer>;

/** What helps to write a project file. */
export const projectFiles = resource('Projects', {
  checkProjectFile: {
    method: 'post',
    path: '/api/project-files/check',
    wholeCell: true,
    writes: false,
    repeatable: false,
    summary: 'Checks a project file as `createProject` would, without making a project.',
    description:
      'What is wrong with it, each with its line and column, and what the project would be. That includes the policy of the host, profiles, and whether its name is taken. Directories and repositories are not opened.',
    body: checkProjectFileRequest,
    answers: { 200: { description: 'What was found.', content: json(checkProjectFileAnswer) } },
  },
  getProjectFileSchema: {
    method: 'get',
    path: '/api/project-files/schema',
    summary: 'The JSON Schema of project files, for editors.',
    description:
      'Of what people write: with defaults left out, and short forms. What no schema can say is only found by `checkProjectFile`.',
    query: noQuery,
    answers: { 200: { description: 'A JSON Schema.', content: json(z.looseObject({ $schema: z.string() })) } },
  },
  listExamples: {
    method: 'get',
    path: '/api/examples',
    wholeCell: true,
    summary: 'The examples of this installation, each with its project file and what keeps it from running here.',
    description:
      'Whether it can run is judged by the policy of the host and by what ready workers tell of themselves. Keys of model providers are not looked for: the ToolHost alone has them. Their directories may be copied whatever the policy says.',
    query: noQuery,
    answers: {
      200: { description: 'All of them; none where they are not installed.', content: json(exampleListAnswer) },
    },
  },
});
