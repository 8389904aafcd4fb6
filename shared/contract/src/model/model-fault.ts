import { failureCode } from '@suzumio/protocol/failure-codes';
import * as z from 'zod';

/** A preset that was asked last and refused, whether or not another one of its list answered then. */
export const modelFault = z.object({
  preset: z.string(),
  code: failureCode,
  message: z.string().describe('What the provider said, and what helps.'),
  at: z.iso.datetime(),
});
export type ModelFault = z.infer<typeof modelFault>;
