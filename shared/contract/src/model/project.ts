import * as z from 'zod';
import { projectId } from '@suzumio/protocol/ids';
import { labels } from './labels.js';
import { pause } from './pause.js';
import { projectStatuses } from './project-status.js';

const time = z.iso.datetime();

/** A project, as people and programs read it. */
export const projectView = z.object({
  id: projectId,
  status: z.enum(projectStatuses),
  task: z.string().describe('What the team is to do.'),
  labels: labels.describe('What it is filed under.'),
  standingTeam: z.string().nullable().describe('The team whose standing project it is: it is never submitted.'),
  reportPath: z.string().nullable().describe("The report's file, relative to the project's directory."),
  reportVersion: z.int().nullable().describe('The newest version of the report; null while there is none.'),
  reportBy: z.string().nullable().describe('The agent that submitted it; null while there is none.'),
  createdAt: time,
  statusAt: time.describe('Since when it has its status.'),
  startedAt: time.nullable().describe('When it ran for the first time.'),
  turns: z.object({ total: z.int(), active: z.int(), failed: z.int() }),
  messages: z.int(),
  artifacts: z.int(),
  tokens: z
    .int()
    .describe('What its models were asked and have answered; where scripts stand for models, what runners say.'),
  costUsd: z.number().describe('What its models have cost.'),
  paused: pause.nullable().describe('Set where it starts no turns for a while.'),
});
export type ProjectView = z.infer<typeof projectView>;
