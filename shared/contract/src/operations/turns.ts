import { z } from 'zod';
import {
  emptyRequest,
  noQuery,
  cancelAnswer,
  conversationAnswer,
  conversationQuery,
  toolCallListAnswer,
  toolCallsQuery,
  turnListAnswer,
  turnLogQuery,
  turnsQuery,
} from '../model/http-api.js';
import { turnDetail } from '../model/views.js';
import { json, resource } from './operation.js';

/** Turns, and what they did. */
export const turns = resource('Turns', {
  listTurns: {
    method: 'get',
    path: '/api/projects/:project/turns',
    summary: 'The turns of a project, or those of one agent.',
    query: turnsQuery,
    answers: { 200: { description: 'A part of the list.', content: json(turnListAnswer) } },
    refusals: ['agent-unknown'],
  },
  getTurn: {
    method: 'get',
    path: '/api/projects/:project/turns/:turn',
    summary: 'A turn with its prompt, its attempts and its tool calls.',
    query: noQuery,
    answers: { 200: { description: 'The turn.', content: json(turnDetail) } },
    refusals: ['turn-unknown'],
  },
  getTurnLog: {
    method: 'get',
    path: '/api/projects/:project/turns/:turn/log',
    summary: "What the container of a turn's attempt printed; of the newest attempt, unless another is asked for.",
    query: turnLogQuery,
    answers: { 200: { description: 'The log.', content: { 'text/plain': z.string() } } },
    refusals: ['turn-unknown'],
  },
  getTurnConversation: {
    method: 'get',
    path: '/api/projects/:project/turns/:turn/conversation',
    summary:
      'What the model of a turn was told and answered, question by question; from the beginning, unless `after` says otherwise.',
    query: conversationQuery,
    answers: { 200: { description: 'A part of the conversation.', content: json(conversationAnswer) } },
    refusals: ['turn-unknown'],
  },
  cancelTurn: {
    method: 'post',
    path: '/api/projects/:project/turns/:turn/cancel',
    scope: 'operate',
    summary: 'Cancels a turn that is queued or running. What has run of it is ended at once.',
    body: emptyRequest,
    answers: { 200: { description: 'It is cancelled.', content: json(cancelAnswer) } },
    refusals: ['turn-unknown', 'turn-state-refused'],
  },
  listToolCalls: {
    method: 'get',
    path: '/api/projects/:project/tool-calls',
    summary: 'The tool calls of a project, or those of one turn.',
    query: toolCallsQuery,
    answers: { 200: { description: 'A part of the list.', content: json(toolCallListAnswer) } },
    refusals: ['turn-unknown'],
  },
});
