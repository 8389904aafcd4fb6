import type { pauses } from '@suzumio/contract/operations/pauses';
import { readAgent } from '@suzumio/store/projects/agents';
import { readProject } from '@suzumio/store/projects/read-project';
import { pauseAgent, pauseProject, resumeAgent, resumeProject } from '@suzumio/store/protection/pause';
import type { Runs } from '../routes.js';

export const pauseRuns: Runs<typeof pauses> = {
  pauseAgent: (call) =>
    call.write((tx) => {
      const { agent } = call.params;
      pauseAgent(tx, agent, { actor: call.actor, reason: call.body.reason });
      return { agent: readAgent(tx, agent) };
    }),

  resumeAgent: (call) =>
    call.write((tx) => {
      const { agent } = call.params;
      resumeAgent(tx, agent, { actor: call.actor });
      return { agent: readAgent(tx, agent) };
    }),

  pauseProject: (call) =>
    call.write((tx) => {
      pauseProject(tx, { actor: call.actor, reason: call.body.reason });
      return { project: readProject(tx) };
    }),

  resumeProject: (call) =>
    call.write((tx) => {
      resumeProject(tx, { actor: call.actor });
      return { project: readProject(tx) };
    }),

  async pauseCell({ context: { cell, logger }, actor, body: { reason }, key }) {
    const paused = await cell.catalog.pause.begin(actor, reason, key);
    await cell.catalog.audit.note('cell.paused', { actor });
    logger.warn({ actor, reason }, 'the whole cell is paused');
    return { paused };
  },

  async resumeCell({ context: { cell, logger, transport }, actor, key }) {
    await cell.catalog.pause.end(key);
    await cell.catalog.audit.note('cell.resumed', { actor });
    logger.info({ actor }, 'the whole cell is resumed');
    for (const project of cell.catalog.projects.unsettled()) transport.wake(project);
    return { paused: null };
  },
};
