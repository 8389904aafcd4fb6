import { noQuery } from '../model/http-api.js';
import {
  createTeamRequest,
  deleteTeamAnswer,
  standUpAnswer,
  standUpRequest,
  teamAnswer,
  teamListAnswer,
  teamsQuery,
  updateTeamRequest,
} from '../model/profile-api.js';
import { json, resource } from './operation.js';

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
    answers: { 200: { description: 'The team.', content: json(teamAnswer) } },
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
    query: noQuery,
    answers: { 200: { description: 'It is no more.', content: json(deleteTeamAnswer) } },
    refusals: ['team-unknown', 'team-not-empty'],
  },
  standUpTeam: {
    method: 'post',
    path: '/api/teams/:team/up',
    wholeCell: true,
    summary:
      'Makes the standing project of a team from the text of a project file, unless it has one of that name; starts it; says how it differs from the team.',
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
    ],
  },
});
