/**
 * A route of the published Suzumio: a row of the table in `docs/coming-from-suzumio.md`. `same`: it answers here, with
 * what is here; `alias`: it is another name of an operation's path; `refused`: nothing here does what it did.
 */
export type PublishedRoute = {
  readonly method: 'get' | 'post';
  /** As Express writes it. */
  readonly path: string;
  /** What it is here, or what to use instead: for the docs, and for the refusal. */
  readonly here: string;
} & (
  | { readonly meaning: 'same' | 'refused' }
  | {
      readonly meaning: 'alias';
      /** The path of the operation, with the same parameters. */
      readonly of: string;
    }
);

const project = '/api/projects/:project';
const asFields = 'fields are in camelCase, data is `data`';
const byDoor = 'runners call the ToolHost, through a door of their own';

/** Every route of the published Suzumio, in all its versions. */
export const publishedRoutes: readonly PublishedRoute[] = [
  { method: 'get', path: '/', meaning: 'same', here: 'the page, to which one signs in' },
  { method: 'get', path: '/health', meaning: 'same', here: '`status` is `ok`, where `healthy` was `true`' },
  { method: 'get', path: '/api/projects', meaning: 'same', here: '`{items, next?}`' },
  {
    method: 'get',
    path: project,
    meaning: 'same',
    here: '`{project, agents, …}`; counts are fields of `project`, and turns and mail have lists of their own',
  },
  {
    method: 'get',
    path: `${project}/task`,
    meaning: 'refused',
    here: 'the task is `task` in the `project` of `GET /api/projects/:project`',
  },
  { method: 'get', path: `${project}/agents`, meaning: 'same', here: '`{items}`' },
  {
    method: 'get',
    path: `${project}/agents/:agent/history`,
    meaning: 'refused',
    here: 'each turn has its own: `GET /api/projects/:project/turns?agent=:agent` lists them, and `GET /api/projects/:project/turns/:turn/conversation` has what was said in one',
  },
  {
    method: 'get',
    path: `${project}/agents/:agent/history-archive/:compaction`,
    meaning: 'refused',
    here: 'conversations stay whole with their turns; `GET /api/projects/:project/agents/:agent/memory` has the summaries of older ones',
  },
  { method: 'get', path: `${project}/messages`, meaning: 'same', here: '`{items, next?}`' },
  { method: 'get', path: `${project}/messages/:message`, meaning: 'same', here: 'with what became of it' },
  { method: 'get', path: `${project}/turns`, meaning: 'same', here: '`{items, next?}`' },
  {
    method: 'get',
    path: `${project}/activations`,
    meaning: 'alias',
    of: `${project}/turns`,
    here: '`GET /api/projects/:project/turns`',
  },
  {
    method: 'get',
    path: `${project}/activations/:turn`,
    meaning: 'alias',
    of: `${project}/turns/:turn`,
    here: '`GET /api/projects/:project/turns/:turn`',
  },
  {
    method: 'get',
    path: `${project}/activations/:turn/context`,
    meaning: 'alias',
    of: `${project}/turns/:turn/conversation`,
    here: '`GET /api/projects/:project/turns/:turn/conversation`: what the model was told and answered, `{items, next?}`',
  },
  { method: 'get', path: `${project}/tool-calls`, meaning: 'same', here: `oldest first; ${asFields}` },
  {
    method: 'get',
    path: `${project}/tool-status`,
    meaning: 'refused',
    here: 'calls are not counted by tool: `GET /api/projects/:project/tool-calls?tool=` lists those of one, and `agents` of `GET /api/projects/:project/config/resolved` says who has it',
  },
  {
    method: 'get',
    path: `${project}/tool-ui`,
    meaning: 'refused',
    here: 'pages of toolpacks are not run: `GET /api/projects/:project/config/resolved` lists the toolpacks',
  },
  {
    method: 'post',
    path: `${project}/tool-ui/:pack/:entry`,
    meaning: 'refused',
    here: 'only agents call tools: ask one by `POST /api/projects/:project/messages`',
  },
  { method: 'get', path: `${project}/artifacts`, meaning: 'same', here: '`{items, next?}`' },
  { method: 'get', path: `${project}/events`, meaning: 'same', here: `oldest first; ${asFields}` },
  {
    method: 'get',
    path: `${project}/stream`,
    meaning: 'same',
    here: 'events have ids, and a client that comes again goes on where it was',
  },
  {
    method: 'get',
    path: `${project}/config/resolved`,
    meaning: 'same',
    here: 'JSON, without the values of variables and headers',
  },
  {
    method: 'get',
    path: `${project}/report`,
    meaning: 'same',
    here: '404 (`report-missing`) where none is submitted',
  },
  {
    method: 'post',
    path: `${project}/messages`,
    meaning: 'same',
    here: '201 `{id, seq, recipients}`; from `user` alone, `P1` unless it says otherwise, with `Content-Type: application/json`',
  },
  {
    method: 'post',
    path: `${project}/request-changes`,
    meaning: 'same',
    here: '`{project, message}`; `recipient` has to be named, and a report submitted',
  },
  { method: 'post', path: `${project}/stop`, meaning: 'same', here: '`{project}`; turns that run go to their end' },
  {
    method: 'post',
    path: `${project}/start`,
    meaning: 'same',
    here: '`{project}`; only where it has not started, or was stopped',
  },
  {
    method: 'post',
    path: `${project}/approve`,
    meaning: 'same',
    here: '`{project}`; only where a report is submitted',
  },
  {
    method: 'post',
    path: '/tool',
    meaning: 'refused',
    here: `${byDoor}; \`GET /api/projects/:project/tool-calls\` lists what they called`,
  },
  {
    method: 'post',
    path: '/runner/tool-calls/start',
    meaning: 'refused',
    here: `${byDoor}; \`GET /api/projects/:project/tool-calls\` lists what they called`,
  },
  {
    method: 'post',
    path: '/runner/tool-calls/finish',
    meaning: 'refused',
    here: `${byDoor}; \`GET /api/projects/:project/tool-calls\` lists what they called`,
  },
  {
    method: 'post',
    path: '/toolpacks/:pack/support',
    meaning: 'refused',
    here: `${byDoor}; \`GET /api/projects/:project/tool-calls\` lists the calls of controllers, too`,
  },
  {
    method: 'post',
    path: '/runner/signals',
    meaning: 'refused',
    here: `${byDoor}; signals are events, \`GET /api/projects/:project/events?types=signal.recorded\``,
  },
  {
    method: 'post',
    path: '/runner/history/messages',
    meaning: 'refused',
    here: `${byDoor}; \`GET /api/projects/:project/turns/:turn/conversation\` has what was said`,
  },
  {
    method: 'post',
    path: '/runner/history/compact',
    meaning: 'refused',
    here: `${byDoor}; \`GET /api/projects/:project/agents/:agent/memory\` has the summaries`,
  },
  {
    method: 'post',
    path: '/activation-context',
    meaning: 'refused',
    here: `${byDoor}; \`GET /api/projects/:project/turns/:turn/conversation\` has what was said`,
  },
  {
    method: 'post',
    path: '/activation-output',
    meaning: 'refused',
    here: `${byDoor}; \`GET /api/projects/:project/turns/:turn\` has what came of a turn`,
  },
];
