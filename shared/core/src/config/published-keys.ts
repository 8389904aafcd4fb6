import { channelName } from '@suzumio/contract/model/project-config';
import { projectId } from '@suzumio/protocol/ids';
import { asId, isEqual, isNotOn, isOff } from './found-key.js';
import { agentKeys, toolpackKeys } from './published-agent-keys.js';
import { backendKeys } from './published-backend-keys.js';
import type { PublishedKey } from './published-key.js';
import { modelKeys } from './published-model-keys.js';

/** What a project's name may not have. */
const others = /[^a-z0-9]+/g;

const fileKeys: readonly PublishedKey[] = [
  {
    path: '',
    meaning: 'note',
    foreignOnly: true,
    instead: () => [],
    here: 'this is a file of the published Suzumio: what differs here is noted, and `suzumio config import` prints it as a file of this one. Turns have limits here that they had not there (`turn`, `backend.docker`, `scheduler.maxTurnsPerHour`, `protection`)',
  },
  {
    path: 'name',
    values: 'other than `a-z`, `0-9` and `-`',
    meaning: 'refused',
    ours: true,
    code: 'value-invalid',
    here: 'expected 1 to 63 of a-z, 0-9 and -, the first no hyphen',
    when: ({ value }) => typeof value === 'string' && !projectId.safeParse(value).success && asId(value, others) !== '',
    right: ({ value }) => `name: ${asId(String(value), others)}`,
  },
  { path: 'task', meaning: 'same', here: 'the task, in every prompt' },
  {
    path: 'extends',
    meaning: 'same',
    here: 'merged first to last, the file itself last; a list of them in any object, too',
  },
  { path: 'x-*', values: 'keys of your own', meaning: 'same', here: 'a place for anchors; nothing reads it' },
  {
    path: 'channels[]',
    values: 'without `#`',
    meaning: 'alias',
    ours: true,
    here: 'the channel of that name with `#`; mail to it may leave the `#` out',
    when: ({ value }) => typeof value === 'string' && channelName.safeParse(`#${value}`).success,
    instead: ({ path, value }) => [{ set: path, value: `#${String(value)}` }],
  },
  { path: 'channels[]', meaning: 'same', here: 'every agent reads it' },
];

const nudge = (name: string, here: string, asksNothing = isNotOn): PublishedKey => ({
  path: `scheduler.${name}`,
  meaning: 'note',
  here,
  asksNothing,
});

const schedulerKeys: readonly PublishedKey[] = [
  {
    path: 'scheduler.kind',
    values: '`nonpreemptive-signals`',
    meaning: 'alias',
    here: '`nonpreemptive-mailbox`; priorities order mail, and none interrupts a turn that runs',
    when: isEqual('nonpreemptive-signals'),
    instead: ({ path }) => [{ set: path, value: 'nonpreemptive-mailbox' }],
  },
  { path: 'scheduler.maxPromptMessages', meaning: 'same', here: 'most unread messages in one prompt' },
  { path: 'scheduler.intervalMs', meaning: 'same', here: 'how often to look for work that no wake announced' },
  {
    path: 'scheduler.maxSignalsPerActivation',
    meaning: 'alias',
    here: '`scheduler.maxPromptMessages`',
    instead: ({ path }) => [{ move: path, to: ['scheduler', 'maxPromptMessages'] }],
  },
  nudge(
    'noEffectNudge',
    'nothing but mail wakes an agent here, so a turn without effect is not followed by another one; `protection` pauses agents whose turns have none',
    isOff,
  ),
  nudge(
    'failedNudge',
    'a turn that failed is not followed by a reminder: `turn.maxAttempts` says how often it is tried, and `suzumio retry` tries it again',
  ),
  nudge('allQuietNudge', 'nothing but mail wakes an agent here; `suzumio why` says why all are quiet'),
  nudge('quietAgentMonitor', 'nothing but mail wakes an agent here; `suzumio why` says why one is quiet'),
  nudge('failedAgentMonitor', 'what failed waits in `suzumio inbox`; an agent is told by `notices: [errored]`'),
];

const communicationKeys: readonly PublishedKey[] = [
  {
    path: 'communication.pmRoutineVerifierPriority',
    meaning: 'note',
    here: 'no priority is told to agents: who writes with which is for prompts to say',
    asksNothing: ({ value }) => value === 'P2' || value === 'P3',
  },
  { path: 'communication.coordinatorAgent', meaning: 'same', here: 'who is told when an agent waits' },
  {
    path: 'communication.restrictNonCoordinatorToCoordinator',
    meaning: 'same',
    here: 'the others write to the coordinator alone, with every tool that writes mail',
  },
  {
    path: 'communication.nonCoordinatorMaxPriority',
    meaning: 'same',
    here: 'their highest priority then; mail that asks for a higher one goes with this one, and was refused there',
  },
  {
    path: 'platforms',
    values: 'all with `enabled: false`',
    meaning: 'note',
    unread: true,
    here: 'a platform is not asked for',
    when: ({ value }) => Array.isArray(value) && value.every((one: unknown) => isOff({ value: one })),
    asksNothing: () => true,
  },
  {
    path: 'platforms',
    meaning: 'refused',
    here: 'no platform is connected here: a program of yours carries mail to and fro by the HTTP API (docs/client.md)',
    right: () => 'enabled: false, or no platforms',
  },
];

const observabilityKeys: readonly PublishedKey[] = [
  {
    path: 'observability.http.enabled',
    values: '`false`',
    meaning: 'note',
    ours: true,
    here: 'the command and the page need the API, which is served whatever this says',
    when: ({ value }) => String(value) === 'false',
  },
  { path: 'observability.http', meaning: 'same', here: 'the address of `suzumio up`, unless options give another' },
  {
    path: 'observability.webui.enabled',
    values: '`false`',
    meaning: 'note',
    ours: true,
    here: 'the page is a part of the API, and served whatever this says',
    when: ({ value }) => String(value) === 'false',
  },
  { path: 'observability.webui', meaning: 'same', here: 'the page, which is served' },
];

/** Every key of the published format, in the order in which they are looked for: what is for some values comes first. */
export const publishedKeys: readonly PublishedKey[] = [
  ...fileKeys,
  ...schedulerKeys,
  ...communicationKeys,
  ...backendKeys,
  ...modelKeys,
  ...agentKeys,
  ...toolpackKeys,
  ...observabilityKeys,
];
