import * as z from 'zod';

/** A request that a program may make for a person: what the command beside it does. */
export const nextRequest = z.object({
  operation: z.string().describe('The id of an operation of this API.'),
  params: z
    .record(z.string(), z.unknown() as z.ZodType<z.core.util.JSONType>)
    .describe('Its input as clients take it: the parameters of its path by their names, `query` and `body`.'),
  asks: z.array(z.string()).describe('Fields of the body that are left out, since only a person can say them.'),
});
export type NextRequest = z.infer<typeof nextRequest>;

/** What comes next, for a person and for a program. */
export const nextStep = z.object({
  next: z.string().describe('The command that goes on from here, without the program.'),
  request: nextRequest.nullable().describe('The same as a request; null where there is no such operation.'),
});
