import type { Response } from 'express';
import type { WaitAnswer, events } from '@suzumio/contract/operations/events';
import { eventPosition } from '@suzumio/store/projects/events';
import { readProject } from '@suzumio/store/projects/read-project';
import type { Call } from '../call.js';
import type { EventHub } from '../events/event-hub.js';
import type { OpenAccess } from '../open-access.js';

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
  const signal = AbortSignal.any([whenGone(call.response), allowed, AbortSignal.timeout(timeout)]);
  const reached = (await hub.waitForStatus(call.params.project, position, statuses, signal)) ?? null;
  allowed.throwIfAborted();
  return { project: (await look()).project, reached };
}

function whenGone(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}
