import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { backendOf, cloneOf, sandboxOf, workspaceLimitsOf } from '@suzumio/core/config/sandbox-of';
import { sourceConfig } from '@suzumio/core/config/source-schema';
import { unsupportedFields } from '@suzumio/core/config/unsupported';
import { prepareTurn } from '@suzumio/store/turns/prepare-turn';
import type * as z from 'zod';
import { teams } from '../../../store/test/team.js';

/**
 * Every field of a project file is kept to, refused or noted. Each stands in exactly one of these tables, and a field that is
 * new in the schema fails the first test until it stands in one.
 */

type Change = Readonly<Record<string, unknown>>;

/** What the worker is asked for changes with these. That it keeps to what it is asked is shown by its own tests. */
const ofTheContainer: [string, Change, Change?][] = [
  ['backend.kind', { 'backend.kind': 'process' }],
  ['backend.image', { 'backend.image': 'other:1' }],
  ['backend.controllerUrl', { 'backend.controllerUrl': 'http://a:1', 'backend.docker.network': 'bridge' }],
  ['backend.docker.network', { 'backend.docker.network': 'bridge' }],
  ...(['backend.docker', 'agents.ada'] as const).flatMap((owner): [string, Change, Change][] => {
    const mount = { source: '/srv/a', target: '/a' };
    const given = { [`${owner}.mounts`]: [mount] };
    return [
      ['source', { ...mount, source: '/srv/b' }] as const,
      ['target', { ...mount, target: '/b' }] as const,
      ['readonly', { ...mount, readonly: false }] as const,
    ].map(([key, changed]) => [`${owner}.mounts[].${key}`, { [`${owner}.mounts`]: [changed] }, given]);
  }),
  ['backend.docker.memory', { 'backend.docker.memory': '64m' }],
  ['backend.docker.cpus', { 'backend.docker.cpus': 0.5 }],
  ['backend.docker.pids', { 'backend.docker.pids': 64 }],
  ['backend.docker.user', { 'backend.docker.user': 1234 }],
  ['backend.docker.readOnlyRoot', { 'backend.docker.readOnlyRoot': false }],
  ['backend.docker.tmpfs', { 'backend.docker.tmpfs': { '/run': '1m' } }],
  ['backend.docker.runtime', { 'backend.docker.runtime': 'runsc' }],
  ['backend.docker.keep', { 'backend.docker.keep': 'never' }],
  ['backend.docker.keepFor', { 'backend.docker.keepFor': '1m' }],
  ['agents.ada.workspace.git', { 'agents.ada.workspace': { git: '/srv/a' } }],
  ...(
    [
      ['ref', 'v1'],
      ['depth', 1],
      ['branch', 'work'],
    ] as const
  ).map(([key, value]): [string, Change, Change] => [
    `agents.ada.workspace.${key}`,
    { 'agents.ada.workspace': { git: '/srv/a', [key]: value } },
    { 'agents.ada.workspace': { git: '/srv/a' } },
  ]),
  ['workspace.ignore', { 'workspace.ignore': ['target'] }],
  ['workspace.maxBytes', { 'workspace.maxBytes': '64m' }],
  ['workspace.maxFiles', { 'workspace.maxFiles': 100 }],
  ['agents.ada.env', { 'agents.ada.env': { A: 'b' } }],
  ['agents.ada.backend', { 'agents.ada.backend': 'process' }],
  ['turn.timeout', { 'turn.timeout': '1m' }],
];

const skill = { name: 'a', text: 'T.' };

/** What an agent reads changes with these. */
const ofThePrompt: [string, Change, Change?][] = [
  ['name', { name: 'other' }],
  ['task', { task: 'Another.' }],
  ['channels[]', { channels: ['#other'] }],
  ['channels[].name', { channels: [{ name: '#other' }] }],
  ['channels[].members', { channels: [{ name: '#a', members: ['ben'] }] }, { channels: [{ name: '#a' }] }],
  ['scheduler.maxPromptMessages', { 'scheduler.maxPromptMessages': 1 }],
  ['scheduler.maxPromptBytes', { 'scheduler.maxPromptBytes': 1024 }],
  ...(['backend.docker', 'agents.ada'] as const).map((owner): [string, Change, Change] => [
    `${owner}.mounts[].description`,
    { [`${owner}.mounts`]: [{ source: '/srv/a', target: '/a', description: 'Readings.' }] },
    { [`${owner}.mounts`]: [{ source: '/srv/a', target: '/a' }] },
  ]),
  ['agents.ada.role', { 'agents.ada.role': 'poet' }],
  ['agents.ada.prompt', { 'agents.ada.prompt': 'Rhyme.' }],
  ['agents.ada.displayName', { 'agents.ada.displayName': 'Yuki' }],
  ['agents.ada.team', { 'agents.ada.team': 'x' }],
  ['agents.ada.tools', { 'agents.ada.tools': ['messages.send'] }],
  ['agents.ada.skills[].name', { 'agents.ada.skills': [{ name: 'b', text: 'T.' }] }, { 'agents.ada.skills': [skill] }],
  ['agents.ada.skills[].text', { 'agents.ada.skills': [{ name: 'a', text: 'U.' }] }, { 'agents.ada.skills': [skill] }],
  ['agents.ben.count', { 'agents.ben.count': 2 }],
  ['agents.ben.names', { 'agents.ben.names': ['Akari', 'Ren'] }],
];

/** What another test shows: the file, and what it says. */
const shownElsewhere: [string, string, string][] = [
  ['scheduler.kind', 'shared/contract/src/model/project-config.ts', "kind: z.literal('nonpreemptive-mailbox')"],
  ['scheduler.maxConcurrentTurns', 'shared/store/test/turns/start-turns.test.ts', 'maxConcurrentTurns'],
  ['scheduler.maxTurnsPerHour', 'shared/core/test/mail/turns-per-hour.test.ts', 'maxTurnsPerHour: project'],
  ['agents.ada.maxTurnsPerHour', 'shared/core/test/mail/turns-per-hour.test.ts', 'maxTurnsPerHour: agent'],
  ['agents.ada.notices', 'shared/store/test/turns/turn-notices.test.ts', 'notices: [finished]'],
  ['protection', 'shared/store/test/protection/protection.slow.test.ts', "withProtection('off')"],
  ...['exchanges', 'sameMail', 'emptyTurns'].map((key): [string, string, string] => [
    `protection.${key}`,
    'shared/store/test/protection/protection.slow.test.ts',
    `{ ${key}: `,
  ]),
  ['communication.coordinatorAgent', 'services/toolhost/test/tools.slow.test.ts', 'coordinatorAgent: lead'],
  ...['restrictNonCoordinatorToCoordinator', 'nonCoordinatorMaxPriority'].map((key): [string, string, string] => [
    `communication.${key}`,
    'shared/store/test/mail/coordinator.test.ts',
    `${key}: `,
  ]),
  ['turn.maxToolCalls', 'shared/store/test/turns/record-tool-call.slow.test.ts', 'tool-limit-reached'],
  ['turn.maxAttempts', 'shared/core/test/failures/failure-policy.test.ts', 'maxAttempts'],
  ['turn.startDeadline', 'shared/core/test/failures/failure-policy.test.ts', 'startDeadlineMs'],
  ['agents.ada.profile', 'shared/core/test/profiles/start-from-profiles.test.ts', 'profile: Akari'],
  ['agents.ada.workspace.from', 'shared/store/test/cell/create-project.test.ts', 'workspace'],
  ['backend.runner.script[].agent', 'runner/test/find-rule.test.ts', 'agent:'],
  ...['from', 'contains', 'channel', 'kind', 'priority', 'turn', 'attempt'].map((key): [string, string, string] => [
    `backend.runner.script[].when.${key}`,
    'runner/test/find-rule.test.ts',
    `${key}:`,
  ]),
  ...[
    'run.command',
    'run.timeoutMs',
    'write.path',
    'write.text',
    'tool',
    'input',
    'expectError',
    'allowError',
    'text',
    'endUnless.value',
    'endUnless.is',
  ].map((key): [string, string, string] => [
    `backend.runner.script[].steps[].${key}`,
    'runner/test/mock-steps.process.test.ts',
    `${key.split('.').at(-1) ?? ''}:`,
  ]),
  ...['wait', 'fail.exit', 'crash', 'hang'].map((key): [string, string, string] => [
    `backend.runner.script[].steps[].${key}`,
    'runner/test/mock-steps.process.test.ts',
    `${key.split('.').at(-1) ?? ''}: `,
  ]),
  ['tools.toolpacks[].path', 'shared/store/test/content/take-toolpacks.test.ts', 'path: '],
  ['tools.toolpacks[].id', 'shared/store/test/content/take-toolpacks.test.ts', 'id: own'],
  ['git.shared', 'services/toolhost/test/shared-repository.process.test.ts', 'git: { shared: true'],
  ['git.lfs', 'services/turn-worker/test/git/inspected.process.test.ts', "lfs: 'pointers'"],
  ['git.submodules', 'services/turn-worker/test/git/inspected.process.test.ts', "submodules: 'skip'"],
  ['git.maintainers', 'services/toolhost/test/shared-repository.process.test.ts', 'maintainers: ['],
  ['backend.runner.mode', 'test/models.container.test.ts', 'mode: ai'],
  ['backend.runner.model', 'test/models.container.test.ts', 'model: main'],
  ...['type', 'baseURL', 'apiKeyEnv', 'headers'].map((key): [string, string, string] => [
    `backend.runner.models.providers.*.${key}`,
    'services/toolhost/test/gateway/gateway.slow.test.ts',
    `${key}: `,
  ]),
  ...['baseURLEnv', 'timeoutMs', 'chunkTimeoutMs', 'streamUsage'].map((key): [string, string, string] => [
    `backend.runner.models.providers.*.${key}`,
    'services/toolhost/test/gateway/provider-request.test.ts',
    `${key}: `,
  ]),
  ...[
    'provider',
    'model',
    'apiModel',
    'api',
    'temperature',
    'maxOutputTokens',
    'price.input',
    'price.output',
    'model-list',
  ].map((key): [string, string, string] => [
    `backend.runner.models.presets.*.${key}`,
    'services/toolhost/test/gateway/gateway.slow.test.ts',
    `${key.split('.').at(-1) ?? ''}: `,
  ]),
  ...['cached', 'cacheWrite'].map((key): [string, string, string] => [
    `backend.runner.models.presets.*.price.${key}`,
    'services/toolhost/test/gateway/prices.slow.test.ts',
    `${key}: `,
  ]),
  ...['topP', 'toolChoice', 'reasoningEffort', 'headers'].map((key): [string, string, string] => [
    `backend.runner.models.presets.*.${key}`,
    'services/toolhost/test/gateway/provider-request.test.ts',
    `${key}: `,
  ]),
  [
    'backend.runner.models.presets.*.contextLimit',
    'services/toolhost/test/gateway/memory.slow.test.ts',
    'contextLimit: ',
  ],
  ...['lenient', 'maxTokensField', 'systemRole'].map((key): [string, string, string] => [
    `backend.runner.models.presets.*.${key}`,
    'services/toolhost/test/gateway/refused-fields.slow.test.ts',
    `${key}: `,
  ]),
  ['backend.runner.models.presets.*.sendReasoning', 'runner/test/attached.slow.test.ts', 'sendReasoning: '],
  ['backend.runner.models.presets.*.vision', 'services/toolhost/test/gateway/images.slow.test.ts', 'vision: false'],
  ['turn.maxSteps', 'services/toolhost/test/gateway/gateway.slow.test.ts', 'maxSteps: '],
  ['turn.providerPatience', 'shared/core/test/failures/failure-policy.test.ts', 'providerPatienceMs'],
  ...['tokens', 'usd', 'turns'].flatMap((key): [string, string, string][] => [
    [`budget.${key}`, 'shared/store/test/budgets/budgets.test.ts', `${key}: `],
    [`agents.ada.budget.${key}`, 'shared/store/test/budgets/budgets.test.ts', `${key}: `],
  ]),
  ['agents.ada.model', 'services/toolhost/test/gateway/gateway.slow.test.ts', 'model: spare'],
  ['observability.http.host', 'cli/test/policy.container.test.ts', 'host: 127.0.0.1'],
  ['observability.http.port', 'cli/test/policy.container.test.ts', 'port: '],
];

/** Accepted, and by its own words no more than a wish: nothing has to be kept to. */
const wishes = [
  // As far as the cell allows, which looks more often than that.
  'scheduler.intervalMs',
  // There is no page to switch off.
  'observability.webui.enabled',
];

/** What is refused until it is kept to. A field that stands for all below it ends with a dot. */
const refused: [string, Change][] = [
  ['backend.docker.passProviderKeys', { 'backend.docker.passProviderKeys': true }],
  ['backend.docker.warm.', { 'backend.docker.warm': { max: 1, idle: '1m' } }],
  ['tools.toolpacks[].mcp.', { 'tools.toolpacks': [{ id: 'a', mcp: { url: 'https://t.example' } }] }],
];

/** What has no effect yet, and of which a note says so. */
const noted: [string, Change][] = [
  ['tools.toolpacks[]', { 'tools.toolpacks': ['core', 'web'] }],
  ['observability.http.enabled', { 'observability.http.enabled': false }],
];

const written = (...changes: Change[]): string => {
  const file: Record<string, unknown> = {
    name: 'demo',
    task: 'Do it.',
    channels: ['#a'],
    backend: { runner: { mode: 'mock' } },
    agents: { ada: { role: 'writer', prompt: 'Write.', tools: ['*'] }, ben: { role: 'reader', prompt: 'Read.' } },
  };
  for (const [path, value] of changes.flatMap((change) => Object.entries(change))) {
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    let at = file;
    for (const key of keys) at = (at[key] ??= {}) as Record<string, unknown>;
    at[last] = value;
  }
  return JSON.stringify(file);
};

const make = teams();
const firstPrompt = async (file: string) => {
  const team = await make(file);
  for (const letter of ['a', 'b', 'c']) await team.mail('ada', { body: letter.repeat(600) });
  const [turn] = await team.schedule();
  return prepareTurn(team.store.reader, team.store.config, turn ?? '').prompt.replaceAll(/msg_\w+/g, 'msg');
};

const requestOf = (file: string) => {
  const { config } = loadProjectText(file, 'file');
  const { ada } = config.agents;
  if (!ada) throw new Error('there is no ada');
  return {
    backend: backendOf(config, ada),
    sandbox: sandboxOf(config, ada),
    timeoutMs: config.turn.timeout,
    clone: cloneOf(config, 'ada'),
    ignored: config.workspace?.ignore,
    workspaceLimits: workspaceLimitsOf(config),
  };
};

describe('every field of a project file', () => {
  test('is kept to or refused', () => {
    const kept = [...ofTheContainer, ...ofThePrompt, ...shownElsewhere].map(([field]) => field);
    const tables = [...kept, ...[...refused, ...noted].map(([field]) => field), ...wishes].map((field) =>
      field.replace(/^agents\.(ada|ben)\./, 'agents.*.'),
    );
    const standsFor = (entry: string, field: string) =>
      entry.endsWith('.') ? field.startsWith(entry) : field === entry;
    const fields = [...new Set(fieldsOf(sourceConfig))];
    expect(fields.length).toBeGreaterThan(90);
    expect(fields.filter((field) => tables.filter((entry) => standsFor(entry, field)).length !== 1)).toEqual([]);
    expect(tables.filter((entry) => !fields.some((field) => standsFor(entry, field)))).toEqual([]);
  });

  test.each(ofTheContainer)('%s reaches the worker', (_field, change, given = {}) => {
    expect(requestOf(written(given, change))).not.toEqual(requestOf(written(given)));
  });

  test.each(ofThePrompt)('%s reaches the agent', async (_field, change, given = {}) => {
    expect(await firstPrompt(written(given, change))).not.toBe(await firstPrompt(written(given)));
  });

  test.each(shownElsewhere)('%s is shown by %s', (_field, file, text) => {
    const path = join(import.meta.dirname, '../../../..', file);
    expect(existsSync(path) && readFileSync(path, 'utf8')).toContain(text);
  });

  test.each(refused)('%s is refused', (field, change) => {
    const found = unsupportedFields(loadProjectText(written(change), 'file').config);
    const name = field.replace(/\[\](?:\.mcp)?\.?$/, '').replace(/\.$/, '');
    expect(found.map(({ path }) => path.filter((segment) => typeof segment === 'string').join('.'))).toContain(name);
  });

  test.each(noted)('%s is noted', (field, change) => {
    const { notes } = loadProjectText(written(change), 'file');
    expect(notes.map(({ path = '' }) => path.replaceAll(/\d+/g, ''))).toEqual([field]);
  });

  test('of these tables that is kept to is not refused', () => {
    for (const [, change, given = {}] of [...ofTheContainer, ...ofThePrompt]) {
      expect(unsupportedFields(loadProjectText(written(given, change), 'file').config)).toEqual([]);
    }
  });
});

/** The paths of everything that can be written: `[]` for an entry of a list, `*` for one of a map. */
function* fieldsOf(schema: z.core.$ZodType, path = ''): Generator<string> {
  const def = schema._zod.def as z.core.$ZodTypes['_zod']['def'];
  if (def.type === 'object') {
    for (const [key, field] of Object.entries(def.shape)) yield* fieldsOf(field, path === '' ? key : `${path}.${key}`);
  } else if (def.type === 'union') for (const option of def.options) yield* fieldsOf(option, path);
  else if (def.type === 'optional') yield* fieldsOf(def.innerType, path);
  else if (def.type === 'record') yield* ownOrBelow(def.valueType, path, '.*');
  else if (def.type === 'array') yield* ownOrBelow(def.element, path, '[]');
  else yield path;
}

/** A list or map of single values is one field. */
function* ownOrBelow(schema: z.core.$ZodType, path: string, entry: string): Generator<string> {
  const below = [...fieldsOf(schema, path + entry)];
  if (below.length === 1 && below[0] === path + entry) yield path;
  else yield* below;
}
