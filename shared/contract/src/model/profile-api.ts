import { z } from 'zod';
import { priority, projectId } from '@suzumio/protocol/ids';
import { attachments, messageBody, numeral, postedMessage, projectAnswer, request } from './http-api.js';
import { nickname, profileFields, profileSummary, profileView, teamSummary, teamView } from './profile.js';
import { USER_ID } from './project-config.js';
import { teamName } from './team-name.js';

// What the HTTP API takes and answers of profiles and teams.

/** Lists go on after the name that the part before ended with. */
const page = {
  limit: numeral(1, 1000).default(100),
  after: z.string().max(200).optional(),
};
/** Those that are not retired; or, where `retired` is true, only those that are. By nickname. */
export const profilesQuery = request({
  ...page,
  role: z.string().max(200).optional(),
  team: z.string().max(200).optional(),
  retired: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
});
export const teamsQuery = request(page);

export const createProfileRequest = request({
  nickname,
  role: profileFields.role,
  team: profileFields.team.default(null),
  persona: profileFields.persona,
  model: profileFields.model.default(null),
  skills: profileFields.skills.default([]),
});
export type CreateProfileRequest = z.output<typeof createProfileRequest>;

/** What is not named stays. At least one. */
export const updateProfileRequest = request({
  role: profileFields.role.optional(),
  /** Null for none. */
  team: profileFields.team.optional(),
  persona: profileFields.persona.optional(),
  model: profileFields.model.optional(),
  /** All of them: those that are not named are gone. */
  skills: profileFields.skills.optional(),
}).refine((change) => Object.values(change).some((value) => value !== undefined), {
  error: 'name what is to change: role, team, persona, model or skills',
});
export type UpdateProfileRequest = z.output<typeof updateProfileRequest>;

const description = z.string().trim().max(2000);
export const createTeamRequest = request({ name: teamName, description: description.default('') });
export type CreateTeamRequest = z.output<typeof createTeamRequest>;
export const updateTeamRequest = request({ description });
export type UpdateTeamRequest = z.output<typeof updateTeamRequest>;

/** Makes a team's standing project from a file, where it has none of that name; starts it in any case. */
export const standUpRequest = request({
  /** A project file in which the profile `*` stands for every member whom it does not name. It is taken literally. */
  file: z.string().regex(/\S/, { error: 'expected the text of a project file' }).optional(),
});

/** Mail from the person to a profile. */
export const profileMessageRequest = request({
  priority: priority.default('P1'),
  body: messageBody,
  attachments,
  /** Mail over HTTP is always from the person. */
  sender: z.literal(USER_ID).optional(),
});
export type ProfileMessageRequest = z.input<typeof profileMessageRequest>;

export const profileAnswer = z.object({ profile: profileView });
export type ProfileAnswer = z.infer<typeof profileAnswer>;
/** Part of a list. `next` is the `after` with which the list goes on; the last part has none. */
export const profileListAnswer = z.object({ items: z.array(profileSummary), next: z.exactOptional(z.string()) });
export type ProfileListAnswer = z.infer<typeof profileListAnswer>;
export const teamAnswer = z.object({ team: teamView });
export type TeamAnswer = z.infer<typeof teamAnswer>;
export const teamListAnswer = z.object({ items: z.array(teamSummary), next: z.exactOptional(z.string()) });
export type TeamListAnswer = z.infer<typeof teamListAnswer>;
/** The name of the team that is no more. */
export const deleteTeamAnswer = z.object({ name: z.string() });
export type DeleteTeamAnswer = z.infer<typeof deleteTeamAnswer>;

/** How a standing project differs from the team as it is now: it keeps those that it was made with, as they were. */
export const standingDifferences = z.object({
  /** Nicknames of members that are not in it. */
  absent: z.array(z.string()),
  /** Ids of agents in it that started from profiles which are no members any more. */
  departed: z.array(z.string()),
  /** Nicknames of members in it whose profiles were changed since it was made. */
  changed: z.array(z.string()),
});
export type StandingDifferences = z.infer<typeof standingDifferences>;
export const standUpAnswer = projectAnswer.extend({
  team: z.string(),
  /** Whether this request made it. */
  made: z.boolean(),
  differences: standingDifferences,
  /** What is allowed in the file and probably not meant. */
  warnings: z.array(z.string()),
});
export type StandUpAnswer = z.infer<typeof standUpAnswer>;

/** Where mail to a profile went: to its agent in the standing project of its team. */
export const profileMessageAnswer = postedMessage.extend({ project: projectId });
export type ProfileMessageAnswer = z.infer<typeof profileMessageAnswer>;
