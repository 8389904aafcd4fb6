import { projectId } from '@suzumio/protocol/ids';
import * as z from 'zod';
import { tokenScope } from './access-token.js';

const time = z.iso.datetime();

/** A browser that is signed in. Its scope and project are those of the token that its link was made with. */
export const sessionView = z.object({
  id: z.string(),
  token: z.string().describe('The name of the token that it acts as.'),
  createdAt: time,
  seenAt: time.describe('When it was last used, to within five minutes.'),
  expiresAt: time,
  address: z.string().describe("The address that the sign-in came from; behind a proxy, the proxy's."),
  agent: z.string().describe('What the browser called itself.'),
  current: z.boolean().describe('Whether this very request comes from it.'),
});
export type SessionView = z.infer<typeof sessionView>;

/** Whom a request is taken for. */
export const whoAmI = z.object({
  name: z.string().describe("The token's name: the actor of what is done with it."),
  scope: tokenScope,
  project: projectId.nullable().describe('The one project that it opens; null where it opens all.'),
  access: z.enum(['tokens', 'open']).describe('`open`: the server asks nobody for a token.'),
  session: sessionView.nullable().describe('The session; null where the request shows a token, or needs none.'),
});
export type WhoAmI = z.infer<typeof whoAmI>;
