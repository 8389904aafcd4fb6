import * as z from 'zod';

/** The most labels of one project. */
export const maxLabels = 32;

/** A label's key: letters and digits, with `.`, `_`, `/` and `-` between them. */
const keyRule = 'a label is called by 1 to 63 letters, digits, dots, underscores, slashes and hyphens';
export const labelKey = z.string().regex(/^[a-zA-Z0-9](?:[a-zA-Z0-9._/-]{0,61}[a-zA-Z0-9])?$/, { error: keyRule });
/** Commas separate labels in queries. */
const labelValue = z.string().regex(/^[^\p{Cc},]{1,256}$/u, {
  error: 'a label has 1 to 256 characters, none of them a comma or a control character',
});

export const labels = z
  .record(labelKey, labelValue, { error: ({ code }) => (code === 'invalid_key' ? keyRule : undefined) })
  .refine((all) => Object.keys(all).length <= maxLabels, { error: `at most ${maxLabels} labels` })
  .describe('What people and programs file a project under. It means nothing to Suzumio.');
export type Labels = z.infer<typeof labels>;

export const labelWord = z
  .string()
  .regex(/=/, { error: 'expected key=value' })
  .transform((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)])
  .pipe(z.tuple([labelKey, labelValue]))
  .describe('One label as it is written in one word: `key=value`.');
