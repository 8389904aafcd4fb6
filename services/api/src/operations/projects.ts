import { emptyRequest } from '@suzumio/contract/operations/request';
import type { projects } from '@suzumio/contract/operations/projects';
import { parse } from '@suzumio/runtime/http/validate';
import { labelProject } from '@suzumio/store/projects/label-project';
import { readProject, readStatus } from '@suzumio/store/projects/read-project';
import { approveProject, requestChanges, startProject, stopProject } from '@suzumio/store/projects/project-transitions';
import { requireProject } from '../auth.js';
import { bodyOf } from '../call.js';
import { orUnknown } from '../project-access.js';
import type { Runs } from '../routes.js';
import { detailOf, withDetails } from './project-details.js';
import { transition } from './transitions.js';

export const projectRuns: Runs<typeof projects> = {
  async listProjects({ context, response, identity, query }) {
    const { label: labels, status: statuses, include, after, limit } = query;
    const only = identity.project ?? undefined;
    const listed = context.cell.catalog.projects.list({ only, labels, statuses, after, limit: limit + 1 });
    const part = listed.slice(0, limit);
    const { items, last } =
      include === undefined
        ? { items: part.map(({ id, status, labels }) => ({ id, status, labels })), last: part.at(-1) }
        : await withDetails(context, response, part);
    const more = last !== listed.at(-1);
    return { items, ...(more && last ? { next: `${last.createdAtMs}.${last.id}` } : {}) };
  },

  async createProject(call) {
    const { context, actor, body, key } = call;
    // Parsing files takes long to load: reading does without.
    const { createPostedProject } = await import('./create-project.js');
    const { answer, repeated } = await createPostedProject(context, { ...body, actor, key });
    // No follower is told of a project's first transaction, so its events are counted here.
    if (body.message && !repeated) context.metrics.mailAccepted.inc({ sender: 'user' });
    if (body.start) context.transport.wake(answer.project.id);
    call.locate(`/api/projects/${answer.project.id}`);
    return answer;
  },

  getProject: (call) => call.withProject((store) => detailOf(call.context, store)),

  /** Followers are told as soon as the project has ended; workers learn it from the next heartbeat of its attempts. */
  async deleteProject({ context, params: { project }, request, identity, actor, key }) {
    const { cell, transport, logger } = context;
    parse(emptyRequest, bodyOf(request), 'body');
    requireProject(identity, project);
    const deletion = cell.deleteProject(project, {
      actor,
      key,
      onStep(step) {
        if (step === 'ended') transport.hint({ project, seq: 0 });
      },
    });
    await orUnknown(context, project, deletion);
    logger.info({ project, actor }, 'a project was deleted');
    return { id: project };
  },

  getResolvedConfig: (call) => call.withProject(({ config }) => config),

  startProject: (call) =>
    transition(call, 'running', (tx) => {
      startProject(tx, call.actor);
      return { project: readProject(tx) };
    }),

  stopProject: (call) =>
    transition(call, 'stopped', (tx) => {
      stopProject(tx, call.actor, call.body);
      return { project: readProject(tx) };
    }),

  approveProject: (call) =>
    transition(call, 'completed', (tx) => {
      approveProject(tx, call.actor);
      return { project: readProject(tx) };
    }),

  requestChanges: (call) =>
    transition(call, 'running', (tx) => {
      const message = { ...requestChanges(tx, { ...call.body, actor: call.actor }) };
      return { project: readProject(tx), message };
    }),

  labelProject: (call) =>
    transition(call, 'labelled', (tx) => {
      const { set = {}, remove = [] } = call.body;
      labelProject(tx, { set, remove, actor: call.actor });
      return { project: readProject(tx) };
    }),

  /** Wakes a scheduler now, and lists the project for the next sweep. */
  async tickProject(call) {
    const { project: id } = call.params;
    const { cell, transport } = call.context;
    const status = await call.withProject(async ({ reader }) => {
      await cell.noteStatus(id);
      return readStatus(reader).status;
    });
    transport.wake(id);
    return { id, status };
  },
};
