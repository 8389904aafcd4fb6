import { emptyRequest, noQuery } from '../model/http-api.js';
import {
  createProfileRequest,
  profileAnswer,
  profileListAnswer,
  profileMessageAnswer,
  profileMessageRequest,
  profilesQuery,
  updateProfileRequest,
} from '../model/profile-api.js';
import { json, resource } from './operation.js';

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
    body: updateProfileRequest,
    answers: { 200: { description: 'It is changed.', content: json(profileAnswer) } },
    refusals: ['profile-unknown', 'profile-retired', 'persona-invalid', 'team-unknown', 'idempotency-mismatch'],
  },
  retireProfile: {
    method: 'post',
    path: '/api/profiles/:profile/retire',
    wholeCell: true,
    summary: 'Keeps a profile for history: no new project starts from it, and those that did go on.',
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
