import { acts } from './acts.js';
import { agents } from './agents.js';
import { artifacts } from './artifacts.js';
import { cellEvents } from './cell-events.js';
import { configs } from './configs.js';
import { events } from './events.js';
import { inbox } from './inbox.js';
import { memory } from './memory.js';
import { messages } from './messages.js';
import type { Operation } from './operation.js';
import { pauses } from './pauses.js';
import { profiles } from './profiles.js';
import { projectFiles } from './project-files.js';
import { projects } from './projects.js';
import { search } from './search.js';
import { service } from './service.js';
import { sharedRepository } from './shared-repository.js';
import { signIn } from './sign-in.js';
import { tasks } from './tasks.js';
import { teams } from './teams.js';
import { tokens } from './tokens.js';
import { turns } from './turns.js';
import { usage } from './usage.js';
import { workspaces } from './workspaces.js';

/** Every operation of the API, by its name in clients. */
export const operations = {
  ...projects,
  ...projectFiles,
  ...configs,
  ...agents,
  ...messages,
  ...inbox,
  ...search,
  ...tasks,
  ...turns,
  ...artifacts,
  ...workspaces,
  ...sharedRepository,
  ...events,
  ...cellEvents,
  ...usage,
  ...memory,
  ...pauses,
  ...profiles,
  ...teams,
  ...tokens,
  ...acts,
  ...signIn,
  ...service,
};
export type Operations = typeof operations;

/** All of them, in the order in which they are described. */
export const allOperations: readonly Operation[] = Object.values(operations);
