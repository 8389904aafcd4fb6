import * as z from 'zod';
import { sessionView, whoAmI } from '../model/session.js';
import { json, resource } from './operation.js';
import { noQuery, request } from './request.js';

export const endSessionsQuery = request({
  token: z.string().min(1).max(100).describe('The name of the token whose sessions end.'),
  others: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('With `true`, the session that asks stays.'),
});

/** The longest path of a page that a link leads to. */
const maxPathChars = 500;

export const createSignInLinkRequest = request({
  // Two slashes, or one of each kind, begin an address of another host.
  path: z
    .string()
    .max(maxPathChars)
    .regex(/^\/([!-.0-[\]-~][!-~]*)?$/, { error: 'expected the path of a page, such as /p/newsroom' })
    .optional()
    .describe('The page that the link leads to, such as `/p/newsroom`; without it the first one.'),
  token: z
    .string()
    .max(100)
    .optional()
    .describe(
      'The name of the token that the link signs in as; without it the one that asks. Another one than that takes the scope `admin` and the whole cell.',
    ),
});

export const signInLinkAnswer = z.object({
  url: z.string().describe('Opens the page, signed in. It works once.'),
  expiresAt: z.iso.datetime().nullable().describe('When it ends; null where the server asks nobody to sign in.'),
});

export const createSessionRequest = request({
  code: z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, { error: 'expected the text behind # in a sign-in link' })
    .describe('What stands behind `#` in the link.'),
});

export const sessionAnswer = z.object({ session: sessionView });
export const sessionListAnswer = z.object({ items: z.array(sessionView) });

const setsCookie = { 'Set-Cookie': "The session's secret, for the browser alone." };

/** How people sign in to the page, and the browsers that are signed in. */
export const signIn = resource('Access', {
  createSignInLink: {
    method: 'post',
    path: '/api/sign-in-links',
    scope: 'read',
    summary: 'Makes a link that signs a browser in, once, within ten minutes.',
    description:
      'Whoever opens it acts as the token, or the session, that made it, or as `token`. It takes no `Idempotency-Key`, since the link is not kept for a second answer. A token has 20 links at a time; the oldest gives way.',
    body: createSignInLinkRequest,
    repeatable: false,
    answers: { 201: { description: 'The link.', content: json(signInLinkAnswer) } },
    refusals: ['sign-in-insecure', 'token-unknown'],
  },
  createSession: {
    method: 'post',
    path: '/api/session',
    open: true,
    summary: 'Signs a browser in with the code of a link, which ends with it.',
    description:
      'The answer sets a cookie that scripts cannot read; it opens what the token of the link opens, for 30 days at most, and ends with that token. Only a page of this server may ask for it. A token has 100 sessions at a time; the one that was used least lately gives way.',
    body: createSessionRequest,
    repeatable: false,
    answers: { 201: { description: 'The session.', content: json(sessionAnswer), headers: setsCookie } },
    refusals: ['sign-in-insecure', 'sign-in-link-ended'],
  },
  getSession: {
    method: 'get',
    path: '/api/session',
    summary: 'Whom the request is taken for, and what that opens.',
    query: noQuery,
    answers: { 200: { description: 'Who it is.', content: json(whoAmI) } },
  },
  signOut: {
    method: 'delete',
    path: '/api/session',
    scope: 'read',
    summary: 'Ends the session that the request comes from.',
    query: noQuery,
    answers: { 200: { description: 'It has ended.', content: json(sessionAnswer), headers: setsCookie } },
    refusals: ['session-unknown'],
  },
  listSessions: {
    method: 'get',
    path: '/api/sessions',
    summary: 'The browsers that are signed in: with a token of the whole cell and the scope `admin` all, else its own.',
    query: noQuery,
    answers: { 200: { description: 'The sessions, the newest first.', content: json(sessionListAnswer) } },
  },
  endSession: {
    method: 'delete',
    path: '/api/sessions/:session',
    scope: 'read',
    summary: 'Signs a browser out: one that the list shows.',
    description: 'Requests and streams that it opened are refused from then on.',
    query: noQuery,
    answers: { 200: { description: 'It has ended.', content: json(sessionAnswer) } },
    refusals: ['session-unknown'],
  },
  endSessions: {
    method: 'delete',
    path: '/api/sessions',
    scope: 'read',
    summary: 'Signs out every browser of a token at once.',
    description:
      'Links that would sign in as it end, too; the token itself stays good. With a token of the whole cell and the scope `admin` it may be any token, else its own.',
    query: endSessionsQuery,
    answers: { 200: { description: 'The sessions that have ended.', content: json(sessionListAnswer) } },
    refusals: ['token-unknown'],
  },
});
