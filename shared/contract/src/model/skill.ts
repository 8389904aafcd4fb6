import * as z from 'zod';
import { prose } from './scalar-config.js';

/** Limits on skills: each turn contains all of them. */
export const skillLimits = { skills: 32, skillBytes: 64 * 1024, totalBytes: 256 * 1024 } as const;

export const skillName = z
  .string()
  .regex(/^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,119}$/u, {
    error: 'expected 1 to 120 letters, digits, dots, hyphens and underscores, beginning with a letter or a digit',
  })
  .describe("A skill's name: that of its file, unless it was given another.");

/** A text that is included in an agent's prompts. */
export const skill = z.strictObject({
  name: skillName,
  text: prose.refine((text) => Buffer.byteLength(text) <= skillLimits.skillBytes, {
    error: `a skill has at most ${String(skillLimits.skillBytes)} bytes`,
  }),
});
export type Skill = z.infer<typeof skill>;

export const skills = z
  .array(skill)
  .max(skillLimits.skills)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, { error: 'two skills have one name' })
  .refine((all) => all.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0) <= skillLimits.totalBytes, {
    error: `skills have at most ${String(skillLimits.totalBytes)} bytes together`,
  });
