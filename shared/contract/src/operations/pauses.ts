import * as z from 'zod';
import { pause } from '../model/pause.js';
import { agentAnswer } from './agents.js';
import { json, resource } from './operation.js';
import { projectAnswer } from './projects.js';
import { emptyRequest, request } from './request.js';

export const pauseRequest = request({
  reason: z.string().trim().min(1).max(500).optional().describe('A note for the record.'),
});

export const cellPauseAnswer = z.object({ paused: pause.nullable() });

/** Keeping agents, projects or the whole cell from starting turns for a while. */
export const pauses = resource('Usage', {
  pauseAgent: {
    method: 'post',
    path: '/api/projects/:project/agents/:agent/pause',
    scope: 'operate',
    summary: 'Keeps an agent from starting turns; what runs goes to its end, and its mail waits.',
    description: 'Pausing what is paused replaces the reason.',
    body: pauseRequest,
    answers: { 200: { description: 'It is paused.', content: json(agentAnswer) } },
    refusals: ['agent-unknown', 'idempotency-mismatch'],
  },
  resumeAgent: {
    method: 'post',
    path: '/api/projects/:project/agents/:agent/resume',
    scope: 'operate',
    summary: 'Lets a paused agent start turns again, with a fresh allowance for the hour.',
    body: emptyRequest,
    answers: { 200: { description: 'It is not paused.', content: json(agentAnswer) } },
    refusals: ['agent-unknown'],
  },
  pauseProject: {
    method: 'post',
    path: '/api/projects/:project/pause',
    scope: 'operate',
    summary: 'Keeps the agents of a project from starting turns; what runs goes to its end, and mail waits.',
    description: 'Its status stays. Pausing what is paused replaces the reason.',
    body: pauseRequest,
    answers: { 200: { description: 'It is paused.', content: json(projectAnswer) } },
    refusals: ['idempotency-mismatch'],
  },
  resumeProject: {
    method: 'post',
    path: '/api/projects/:project/resume',
    scope: 'operate',
    summary: 'Lets a paused project go on. Agents that were paused by themselves stay so.',
    body: emptyRequest,
    answers: { 200: { description: 'It is not paused.', content: json(projectAnswer) } },
  },
  pauseCell: {
    method: 'post',
    path: '/api/pause',
    wholeCell: true,
    scope: 'admin',
    summary: 'Keeps every project from starting turns: for administrators.',
    description: 'For maintenance. What runs goes to its end, mail is taken and waits.',
    body: pauseRequest,
    answers: { 200: { description: 'The cell is paused.', content: json(cellPauseAnswer) } },
    refusals: ['idempotency-mismatch'],
  },
  resumeCell: {
    method: 'post',
    path: '/api/resume',
    wholeCell: true,
    scope: 'admin',
    summary: 'Lets the cell go on. Projects and agents that were paused by themselves stay so.',
    body: emptyRequest,
    answers: { 200: { description: 'The cell is not paused.', content: json(cellPauseAnswer) } },
  },
});
