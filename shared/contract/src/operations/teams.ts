import * as z from 'zod';
import { configChange } from '../model/config-change.js';
import { teamSummary, teamView } from '../model/profile.js';
import { teamName } from '../model/team-name.js';
import { json, resource } from './operation.js';
import { projectAnswer } from './projects.js';
import { namedListOf, namedPage, noQuery, request } from './request.js';

export const teamsQuery = request(namedPage);

const description = z.string().trim().max(2000);

export const createTeamRequest = request({ name: teamName, description: description.default('') });

export const updateTeamRequest = request({ description });

/** Makes a team's standing project from a file, or applies the file to the one of that name; starts it in any case. */
export const standUpRequest = request({
  file: z
    .string()
    .regex(/\S/, { error: 'expected the text of a project file' })
    .optional()
    .describe(
      'A project file in which the profile `*` stands for every member whom it does not name. It is taken literally.',
    ),
});

export const teamAnswer = z.object({ team: teamView });
export type TeamAnswer = z.infer<typeof teamAnswer>;

export const teamListAnswer = namedListOf(teamSummary);

/** The name of the deleted team. */
export const deleteTeamAnswer = z.object({ name: z.string() });

/** How a standing project differs from the team as it is now: it has those that the newest version of its file has, as they were then. */
export const standingDifferences = z.object({
  absent: z.array(z.string()).describe('Nicknames of members that are not in it.'),
  departed: z
    .array(z.string())
    .describe('Ids of agents in it that started from profiles which are no members any more.'),
  changed: z.array(z.string()).describe('Nicknames of members in it whose profiles were changed since it was made.'),
});
export type StandingDifferences = z.infer<typeof standingDifferences>;

/** A team, and how its standing project differs from it. */
export const shownTeamAnswer = teamAnswer.extend({
  differences: standingDifferences
    .nullable()
    .describe('How its standing project differs from it. Null where it has none, and where that one cannot be read.'),
});

export const standUpAnswer = projectAnswer.extend({
  team: z.string(),
  made: z.boolean().describe('Whether this request made it.'),
  version: z.int().describe("The version of the project's file that is in force."),
  changes: z.array(configChange).describe('What this request changed in the file of one that was there.'),
  differences: standingDifferences,
  warnings: z.array(z.string()).describe('What is allowed in the file and probably not meant.'),
  notes: z.array(z.string()).describe('What the file has of the published format that has no effect here, and why.'),
});

/** Teams of profiles, and their standing projects: for tokens of the whole cell. */
export const teams = resource('Profiles', {
  listTeams: {
    method: 'get',
    path: '/api/teams',
    wholeCell: true,
    summary: 'The teams, by name.',
    query: teamsQuery,
    answers: { 200: { description: 'A part of the list.', content: json(teamListAnswer) } },
  },
  createTeam: {
    method: 'post',
    path: '/api/teams',
    wholeCell: true,
    summary: 'Registers a team.',
    body: createTeamRequest,
    answers: {
      201: { description: 'It is registered.', content: json(teamAnswer), headers: { Location: 'Where the team is.' } },
    },
    refusals: ['team-exists', 'idempotency-mismatch'],
  },
  getTeam: {
    method: 'get',
    path: '/api/teams/:team',
    wholeCell: true,
    summary: 'A team and its members: the profiles in it that are not retired.',
    query: noQuery,
    answers: { 200: { description: 'The team.', content: json(shownTeamAnswer) } },
    refusals: ['team-unknown'],
  },
  updateTeam: {
    method: 'post',
    path: '/api/teams/:team',
    wholeCell: true,
    summary: 'Says anew what a team is for. Who is in it is said by the profiles.',
    body: updateTeamRequest,
    answers: { 200: { description: 'It is changed.', content: json(teamAnswer) } },
    refusals: ['team-unknown', 'idempotency-mismatch'],
  },
  deleteTeam: {
    method: 'delete',
    path: '/api/teams/:team',
    wholeCell: true,
    summary: 'Deletes a team that has neither members nor a standing project.',
    description: 'Profiles are moved elsewhere first, and its standing project deleted.',
    query: noQuery,
    answers: { 200: { description: 'It is no more.', content: json(deleteTeamAnswer) } },
    refusals: ['team-unknown', 'team-not-empty'],
  },
  standUpTeam: {
    method: 'post',
    path: '/api/teams/:team/up',
    wholeCell: true,
    summary:
      'Makes the standing project of a team from the text of a project file, or applies the file where it has one of that name; starts it; says how it differs from the team.',
    description: 'Asked again, it makes nothing new: it takes no `Idempotency-Key`, for it needs none.',
    body: standUpRequest,
    repeatable: false,
    answers: {
      200: { description: 'It was there already, and runs.', content: json(standUpAnswer) },
      201: { description: 'It was made, and runs.', content: json(standUpAnswer) },
    },
    refusals: [
      'team-unknown',
      'team-empty',
      'team-has-no-project',
      'project-exists',
      'invalid-config',
      'profile-unknown',
      'profile-retired',
      'not-supported-yet',
      'policy-denied',
      'config-change-refused',
    ],
  },
});
