import { failureCode } from '@suzumio/protocol/failure-codes';
import * as z from 'zod';
import { modelFault } from '../model/model-fault.js';
import { nextStep } from '../model/next-request.js';
import { pause } from '../model/pause.js';
import { storedView } from '../model/storage.js';
import { json, resource } from './operation.js';
import { namedListOf, namedPage, noQuery, numeral, request } from './request.js';

export const healthAnswer = z.object({
  status: z.literal('ok'),
  version: z.string(),
  access: z
    .enum(['tokens', 'open'])
    .describe('Whether all else needs a token, or is open to everybody on the machine.'),
  queue: z
    .enum(['ok', 'away'])
    .describe('Whether the queue has answered within the last second. While it is away, turns start late or not.'),
});

/** Workers by name. */
export const workersQuery = request({
  ...namedPage,
  limit: numeral(1, 100).default(100).describe('How many the part has at the most.'),
});

/** A worker, as it last told the fleet of itself. Null is what it has not told. */
export const workerView = z.object({
  worker: z.string(),
  state: z
    .enum(['ready', 'not-ready', 'draining', 'lost'])
    .nullable()
    .describe(
      '`draining`: it stops when what it runs has ended. `not-ready`: it can run no turns of this cell now. `lost`: it fell silent without a farewell; it is named for a day.',
    ),
  problem: z.string().nullable().describe('The code of what its host lacks, or with which this cell refuses it.'),
  slots: z.int().describe('Turns that it takes at a time; 0 while it takes none.'),
  busy: z.int().nullable().describe('Turns that it runs.'),
  version: z.string().nullable(),
  commit: z.string().nullable().describe('The commit that it was built from.'),
  host: z.string().nullable().describe('The name of its host.'),
  lostSince: z.iso.datetime().nullable().describe('When a lost worker was last heard of.'),
  backends: z.array(z.string()).nullable(),
  images: z.array(z.string()).nullable().describe('The images that its Docker has, by name.'),
});
export type WorkerView = z.infer<typeof workerView>;

export const workerListAnswer = namedListOf(workerView).extend({
  elsewhere: z.int().describe('How many workers serve other cells only.'),
});
export type WorkerListAnswer = z.infer<typeof workerListAnswer>;

const seen = z.iso.datetime();

const finding = z.object({
  what: z
    .string()
    .describe(
      'What was looked at, in a word: `scheduler`, `toolhost`, `queue`, `data`, `disk`, `workers`, `agents`, `mail`.',
    ),
  state: z
    .enum(['ok', 'broken', 'skipped'])
    .describe('`skipped`: nothing is known of it, or it is no fault of the server.'),
  detail: z.string(),
  remedy: z.string().nullable().describe('What mends it.'),
  next: z.string().nullable().describe('A command that goes on from here, without the program.'),
});
export type ServerFinding = z.infer<typeof finding>;

/** How the server is, as far as the process that answers has seen. */
export const systemAnswer = z.object({
  version: z.string().describe('Of the API that answers.'),
  at: seen.describe('When all this was looked at.'),
  paused: pause.nullable().describe('The pause of all projects.'),
  services: z
    .array(
      z.object({
        service: z.string().describe('`api`, `scheduler` or `toolhost`; in one process, each counts for itself.'),
        host: z.string(),
        since: seen.describe('Since when it has served without interruption.'),
        seenAt: seen.describe('Its last heartbeat in the catalog: one a second.'),
        alive: z.boolean().describe('Whether that was within the last five seconds.'),
      }),
    )
    .describe('The processes that beat lately. One that stopped in order is not in the list.'),
  toolhosts: z
    .array(
      z.object({
        url: z.string(),
        version: z.string().nullable().describe('Null where it did not answer now.'),
        problem: z.string().nullable().describe('The code or the reason why it did not.'),
      }),
    )
    .describe("What each ToolHost of the API's SUZUMIO_TOOLHOST_URLS answered just now."),
  queue: z.object({
    kind: z.enum(['redis', 'memory']),
    turns: z
      .object({
        waiting: z.int().describe('No worker has taken them yet.'),
        active: z.int(),
        delayed: z.int(),
      })
      .nullable()
      .describe('The turn jobs on it, of all cells; null where it did not answer now.'),
  }),
  workers: z
    .object({
      connected: z.int(),
      ready: z.int(),
      slots: z.int(),
      busy: z.int().describe('Turns that run, as far as the workers have told.'),
      elsewhere: z.int().describe('How many workers serve other cells only.'),
      lost: z.int().describe('How many fell silent within a day, without a farewell.'),
    })
    .nullable()
    .describe('The fleet as the queue knows it; null where that did not answer now.'),
  failures: z
    .object({
      agents: z.int(),
      items: z.array(
        z.object({
          project: z.string(),
          agent: z.string(),
          turnNumber: z.int(),
          code: failureCode,
          message: z.string(),
          at: seen,
          ...nextStep.shape,
        }),
      ),
    })
    .describe('Failed agents of all projects that are not completed: how many, and the first 50 of them.'),
  models: z
    .array(modelFault.extend({ project: z.string() }))
    .describe(
      'Presets of projects that are not completed that refused when they were asked last: the first 50 of them.',
    ),
  undelivered: z
    .object({
      messages: z.int(),
      items: z.array(
        z.object({
          project: z.string(),
          seq: z.int().describe("The message's number."),
          agent: z.string(),
          turnNumber: z.int().describe('Its turn that read the message and failed or was cancelled.'),
          ...nextStep.shape,
        }),
      ),
    })
    .describe(
      'Mail of all projects that are not completed which a turn read that failed or was cancelled: how much, and the first 50.',
    ),
  disk: storedView.shape.disk,
  projects: z.int(),
  unreadable: z.array(z.string()).describe('Projects whose databases cannot be read.'),
  findings: z
    .array(finding)
    .describe('What of all this is well and what is broken, with what mends it: the same for every client.'),
});
export type SystemAnswer = z.infer<typeof systemAnswer>;

/** What posted project files may ask of the server. */
export const policyAnswer = z.object({
  policy: z
    .looseObject({})
    .describe('The fields of `policy.yaml`, every default written out. Durations are milliseconds, sizes bytes.'),
});

/** What the server says of itself and of its workers. */
export const service = resource('Service', {
  listWorkers: {
    method: 'get',
    path: '/api/workers',
    wholeCell: true,
    summary: 'The workers that the queue knows now, by name: for tokens of the whole cell.',
    description: 'As each told of itself lately; a worker that is gone drops out of the list by itself.',
    query: workersQuery,
    answers: { 200: { description: 'A part of the list.', content: json(workerListAnswer) } },
    refusals: ['server-unreachable'],
  },
  getSystem: {
    method: 'get',
    path: '/api/system',
    wholeCell: true,
    summary:
      'How the server is, and what is broken: services, queue, workers, failed agents, undelivered mail, disk. For tokens of the whole cell.',
    description:
      'Only what was seen: heartbeats in the catalog, what the queue and the ToolHosts answer now, what workers told of themselves. Made to be asked every five seconds: only projects that have changed are read.',
    query: request({}),
    answers: { 200: { description: 'The state.', content: json(systemAnswer) } },
  },
  getPolicy: {
    method: 'get',
    path: '/api/policy',
    wholeCell: true,
    scope: 'admin',
    summary: 'The policy that the server has for posted project files: for administrators of the whole cell.',
    description:
      'As the API read it when it started. Users, passwords and queries of addresses, and arguments of commands, are `(hidden)`: keys may stand in them. Workers may have a stricter policy of their own. Whether it allows a file is told by `checkProjectFile`.',
    query: noQuery,
    answers: { 200: { description: 'The policy.', content: json(policyAnswer) } },
  },
  getHealth: {
    method: 'get',
    path: '/health',
    summary: 'Whether anybody is there, and whether the queue is.',
    description:
      'Answers 200 as soon as requests are taken, also while the queue is away. It looks at no database, and waits at most a second for the queue.',
    answers: { 200: { description: 'Somebody is.', content: json(healthAnswer) } },
  },
  getDescription: {
    method: 'get',
    path: '/openapi.json',
    summary: 'This description.',
    description: 'Made from the operations that the routes are made of.',
    answers: { 200: { description: 'An OpenAPI document.', content: json(z.looseObject({ openapi: z.string() })) } },
  },
});
