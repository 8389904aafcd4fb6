import type { WaitAnswer, events } from '@suzumio/contract/operations/events';
import type { EventType } from '@suzumio/contract/model/event';
import type { ProjectStatus } from '@suzumio/contract/model/project-status';
import { eventPosition } from '@suzumio/store/projects/events';
import { readProject } from '@suzumio/store/projects/read-project';
import type { Call } from '../call.js';
import type { EventHub } from '../events/event-hub.js';
import type { Frame } from '../events/follower.js';
import type { OpenAccess } from '../open-access.js';
import { waitSignal } from './wait-signal.js';

/** The status that a project has after an event. */
const statusAfter: Partial<Record<EventType, ProjectStatus>> = {
  'project.initialized': 'initialized',
  'project.started': 'running',
  'project.submitted': 'submitted',
  'project.changes-requested': 'running',
  'project.completed': 'completed',
  'project.stopped': 'stopped',
};

/** Answers once a project reaches a status, for programs that wait for nothing else. */
export async function waitForStatus(
  call: Call<typeof events.waitForStatus>,
  hub: EventHub,
  access: OpenAccess,
): Promise<WaitAnswer> {
  const { status: statuses, timeout } = call.query;
  const look = () => call.read((reader) => ({ project: readProject(reader), position: eventPosition(reader) }));
  const { project, position } = await look();
  if (statuses.includes(project.status)) return { project, reached: project.status };
  // Waits from the position of this read on: no event is missed in between.
  const allowed = access.of(call.response);
  const signal = waitSignal(call.response, allowed, timeout);
  const reachedBy = ({ type }: Frame) => {
    const status = type && statusAfter[type];
    return status !== undefined && statuses.includes(status) ? status : undefined;
  };
  const reached = (await hub.waitFor(call.params.project, position, reachedBy, signal)) ?? null;
  allowed.throwIfAborted();
  return { project: (await look()).project, reached };
}
