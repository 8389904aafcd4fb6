import { emptyRequest } from '@suzumio/contract/operations/request';
import type { projects } from '@suzumio/contract/operations/projects';
import { parse } from '@suzumio/runtime/http/validate';
import { withoutSecretValues } from '@suzumio/core/config/agent-env';
import { hasVersions, newestVersion } from '@suzumio/store/sqlite/configs';
import { labelProject } from '@suzumio/store/projects/label-project';
import { readProject, readStatus } from '@suzumio/store/projects/read-project';
import { approveProject, requestChanges, startProject, stopProject } from '@suzumio/store/projects/project-transitions';
import { isBackwards, type Part } from '@suzumio/store/sqlite/page';
import { placeOfProject } from '@suzumio/store/cell/project-index';
import { requireProject } from '../auth.js';
import { bodyOf } from '../call.js';
import { orUnknown } from '../project-access.js';
import type { Runs } from '../routes.js';
import { fileOf } from './stored-file.js';
import { detailOf, withDetails } from './project-details.js';
import { transition } from './transitions.js';

export const projectRuns: Runs<typeof projects> = {
  async listProjects({ context, response, identity, query }) {
    const { label: labels, status: statuses, include, ...page } = query;
    const only = identity.project ?? undefined;
    const part = context.cell.catalog.projects.list({ only, labels, statuses, ...page });
    if (include === undefined) {
      return { ...shownPlaces(part), items: part.items.map(({ id, status, labels }) => ({ id, status, labels })) };
    }
    // Read from where the part begins to fill, so that it is short at its other end.
    const backwards = isBackwards(page, false);
    const turned = backwards !== (page.order === 'desc');
    const listed = turned ? part.items.toReversed() : part.items;
    const { items, last } = await withDetails(context, response, listed, include);
    const end =
      last === undefined || last === listed.at(-1) ? {} : { [backwards ? 'previous' : 'next']: placeOfProject(last) };
    return { ...shownPlaces({ ...part, ...end }), items: turned ? items.reverse() : items };
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
    await cell.catalog.audit.note('project.deleted', { actor, project });
    logger.info({ project, actor }, 'a project was deleted');
    return { id: project };
  },

  getResolvedConfig: (call) => call.withProject(({ config }) => withoutSecretValues(config)),

  getProjectSource: (call) =>
    call.withProject(async (store) => {
      const version = hasVersions(store.reader) ? newestVersion(store.reader) : 1;
      return { version, file: await fileOf(call.context.cell, store, version) };
    }),

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
      approveProject(tx, call.actor, call.body);
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

/** Places as they are given to clients, without the zeros that make them sort. */
function shownPlaces({ next, previous }: Part<unknown, string>): { next?: string; previous?: string } {
  const shown = (place: string) => place.replace(/^0+(?=\d)/, '');
  return {
    ...(next === undefined ? {} : { next: shown(next) }),
    ...(previous === undefined ? {} : { previous: shown(previous) }),
  };
}
