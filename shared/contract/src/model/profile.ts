import * as z from 'zod';
import { projectId } from '@suzumio/protocol/ids';
import { line, prose } from './scalar-config.js';
import { skill, skills } from './skill.js';
import { teamName } from './team-name.js';

export const nickname = z
  .string()
  .regex(/^[\p{Lu}\p{Lt}\p{Lo}][\p{L}\p{M}\p{N}._-]{0,62}$/u, {
    error: 'expected a capital letter and then up to 62 letters, digits, dots, hyphens and underscores',
  })
  .refine((name) => name === name.normalize('NFC'), { error: 'write its letters in their composed form (NFC)' })
  .describe(
    "A profile's name among people and agents. Its first letter is no small one of a to z, as those of agents' ids are, so that no nickname can be taken for an agent's id, for `user` or `system`, for a `#channel` or for a `@team`.",
  );

const personaBytes = 64 * 1024;

/** The fields of a profile besides its name. */
export const profileFields = {
  role: line(200),
  team: teamName.nullable(),
  /** A prompt with variables for what differs from project to project. */
  persona: prose.refine((text) => Buffer.byteLength(text) <= personaBytes, {
    error: `a persona has at most ${String(personaBytes)} bytes`,
  }),
  /** The preferred preset, where a project has one of that name. */
  model: line(120).nullable(),
  skills,
} as const;

const time = z.iso.datetime();

/** A persistent identity, as in lists. */
export const profileSummary = z.object({
  id: z.uuid().describe('Never changes.'),
  nickname: z.string(),
  role: z.string(),
  team: z.string().nullable(),
  model: z.string().nullable(),
  skills: z.array(z.string()).describe('Their names.'),
  createdAt: time,
  updatedAt: time,
  version: z.int().describe('How often it was written: as it was made, it is 1.'),
  editedBy: z.string().nullable().describe('The name of the token with which it was last changed.'),
  retiredAt: time.nullable().describe('From then on no new project may start from it.'),
});
export type ProfileSummary = z.infer<typeof profileSummary>;

/** A persistent identity. */
export const profileView = profileSummary.extend({ persona: z.string(), skills: z.array(skill) });
export type ProfileView = z.infer<typeof profileView>;

/** Profiles that belong together. */
export const teamSummary = z.object({
  name: z.string(),
  description: z.string(),
  members: z.int().describe('How many profiles are in it that are not retired.'),
  project: projectId
    .nullable()
    .describe('The project that is its own while it works in no other; null where it has none.'),
  createdAt: time,
  updatedAt: time,
});
export type TeamSummary = z.infer<typeof teamSummary>;

export const teamView = teamSummary.extend({
  members: z.array(profileSummary.pick({ id: true, nickname: true, role: true })),
});
export type TeamView = z.infer<typeof teamView>;
