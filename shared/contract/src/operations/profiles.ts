import { projectId } from '@suzumio/protocol/ids';
import * as z from 'zod';
import { nickname, profileFields, profileSummary, profileView } from '../model/profile.js';
import { mailFields, postedMessage } from './messages.js';
import { json, resource } from './operation.js';
import { baseVersion, emptyRequest, namedListOf, namedPage, noQuery, request } from './request.js';

/** Those that are not retired; or, where `retired` is true, only those that are. By nickname. */
export const profilesQuery = request({
  ...namedPage,
  role: z.string().max(200).optional().describe('Only those of this role.'),
  team: z.string().max(200).optional().describe('Only those of this team.'),
  retired: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('With `true`, those that are retired, in place of those that are not.'),
});

export const createProfileRequest = request({
  nickname,
  role: profileFields.role,
  team: profileFields.team.default(null),
  persona: profileFields.persona,
  model: profileFields.model.default(null),
  skills: profileFields.skills.default([]),
});

/** What is not named stays. At least one. */
export const updateProfileRequest = request({
  role: profileFields.role.optional(),
  team: profileFields.team.optional().describe('Null for none.'),
  persona: profileFields.persona.optional(),
  model: profileFields.model.optional(),
  skills: profileFields.skills.optional().describe('All of them: those that are not named are gone.'),
  baseVersion,
}).refine(({ baseVersion: _read, ...change }) => Object.values(change).some((value) => value !== undefined), {
  error: 'name what is to change: role, team, persona, model or skills',
});

/** Mail from the person to a profile. */
export const profileMessageRequest = request(mailFields);

export const profileAnswer = z.object({ profile: profileView });
export type ProfileAnswer = z.infer<typeof profileAnswer>;

/** Part of a list. `next` is the `after` with which the list goes on; the last part has none. */
export const profileListAnswer = namedListOf(profileSummary);

/** Where mail to a profile went: to its agent in the standing project of its team. */
export const profileMessageAnswer = postedMessage.extend({ project: projectId });

/** Identities that outlive projects: for tokens of the whole cell. */
export const profiles = resource('Profiles', {
  listProfiles: {
    method: 'get',
    path: '/api/profiles',
    wholeCell: true,
    summary:
      'The profiles, or those of a role, of a team, or of both; by nickname. Retired ones are a list of their own.',
    query: profilesQuery,
    answers: { 200: { description: 'A part of the list.', content: json(profileListAnswer) } },
  },
  createProfile: {
    method: 'post',
    path: '/api/profiles',
    wholeCell: true,
    summary: 'Registers a profile. Its nickname is its own for ever.',
    description: 'Projects copy a profile when they are made: later changes are for later projects.',
    body: createProfileRequest,
    answers: {
      201: {
        description: 'It is registered.',
        content: json(profileAnswer),
        headers: { Location: 'Where the profile is.' },
      },
    },
    refusals: ['profile-exists', 'persona-invalid', 'team-unknown', 'idempotency-mismatch'],
  },
  getProfile: {
    method: 'get',
    path: '/api/profiles/:profile',
    wholeCell: true,
    summary: 'A profile, retired or not.',
    query: noQuery,
    answers: { 200: { description: 'The profile.', content: json(profileAnswer) } },
    refusals: ['profile-unknown'],
  },
  updateProfile: {
    method: 'post',
    path: '/api/profiles/:profile',
    wholeCell: true,
    summary: 'Changes a profile for projects that are made from now on.',
    description:
      'Fields that are not named stay. Projects that exist keep what they copied. Where another version than `baseVersion` is the newest, `changed` names the fields that were changed since.',
    body: updateProfileRequest,
    answers: { 200: { description: 'It is changed.', content: json(profileAnswer) } },
    refusals: [
      'profile-unknown',
      'profile-retired',
      'persona-invalid',
      'team-unknown',
      'edit-conflict',
      'idempotency-mismatch',
    ],
  },
  retireProfile: {
    method: 'post',
    path: '/api/profiles/:profile/retire',
    wholeCell: true,
    summary: 'Keeps a profile for history: no new project starts from it, and those that did go on.',
    description: 'It cannot be undone. Retiring what is retired changes nothing.',
    body: emptyRequest,
    answers: { 200: { description: 'It is retired.', content: json(profileAnswer) } },
    refusals: ['profile-unknown'],
  },
  sendToProfile: {
    method: 'post',
    path: '/api/profiles/:profile/messages',
    mail: 'body',
    wholeCell: true,
    scope: 'mail',
    summary: 'Sends mail to a profile, in the standing project of its team.',
    description: 'Its team needs a standing project that has the profile in it.',
    body: profileMessageRequest,
    answers: { 201: { description: 'It was sent.', content: json(profileMessageAnswer) } },
    refusals: [
      'profile-unknown',
      'profile-retired',
      'team-has-no-project',
      'recipient-unknown',
      'attachment-unknown',
      'priority-unknown',
      'sender-forged',
      'idempotency-mismatch',
    ],
  },
});
