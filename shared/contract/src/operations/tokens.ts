import {
  noQuery,
  pageQuery,
  auditAnswer,
  createdTokenAnswer,
  createTokenRequest,
  tokenAnswer,
  tokenListAnswer,
} from '../model/http-api.js';
import { json, resource } from './operation.js';

/** Who may use the cell: for administrators. */
export const tokens = resource('Access', {
  listTokens: {
    method: 'get',
    path: '/api/tokens',
    wholeCell: true,
    scope: 'admin',
    summary: 'Every token that there is or was, without its secret, oldest first.',
    query: noQuery,
    answers: { 200: { description: 'The tokens.', content: json(tokenListAnswer) } },
  },
  createToken: {
    method: 'post',
    path: '/api/tokens',
    wholeCell: true,
    scope: 'admin',
    summary: 'Makes a token. Its secret is in the answer and nowhere else.',
    body: createTokenRequest,
    repeatable: false,
    answers: { 201: { description: 'The token and its secret.', content: json(createdTokenAnswer) } },
    refusals: ['token-exists', 'project-unknown'],
  },
  revokeToken: {
    method: 'delete',
    path: '/api/tokens/:token',
    wholeCell: true,
    scope: 'admin',
    summary: 'Takes a token back, at once and for ever.',
    query: noQuery,
    answers: { 200: { description: 'It is revoked.', content: json(tokenAnswer) } },
    refusals: ['token-unknown'],
  },
  listAudit: {
    method: 'get',
    path: '/api/audit',
    wholeCell: true,
    scope: 'admin',
    summary: 'Requests that came with a good token and were refused all the same: the newest ten thousand are kept.',
    query: pageQuery,
    answers: { 200: { description: 'A part of the list.', content: json(auditAnswer) } },
  },
});
