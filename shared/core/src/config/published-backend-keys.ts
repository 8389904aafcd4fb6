import { configDefaults } from './defaults.js';
import { hasOnly, isEqual, sibling, fieldOf } from './found-key.js';
import type { Found, PublishedKey } from './published-key.js';

/** Whether the containers of a file join no network. */
function isSealed(found: Found): boolean {
  const network = fieldOf({ value: sibling(found, 'docker') }, 'network');
  return network === undefined || network === 'none';
}

/** Whether it is the address of the API, which answers no turn here. */
function isApi({ value }: Found): boolean {
  return typeof value === 'string' && URL.parse(value)?.port === String(configDefaults.observability.http.port);
}

const proxyDefaults = { inheritEnv: [true], rewriteLocalhost: [true] };

/** What a file asks of containers. */
export const backendKeys: readonly PublishedKey[] = [
  {
    path: 'backend.kind',
    values: '`docker-chat`',
    meaning: 'alias',
    here: '`docker`',
    when: isEqual('docker-chat'),
    instead: ({ path }) => [{ set: path, value: 'docker' }],
  },
  {
    path: 'backend.image',
    values: 'an image of your own',
    meaning: 'note',
    foreignOnly: true,
    here: 'an image that was built on the published runner has to be built anew on `suzumio-runner` of this version',
    when: ({ value }) => typeof value === 'string' && value !== configDefaults.backend.image,
    instead: () => [],
  },
  { path: 'backend.image', meaning: 'same', here: 'the image that turns run in' },
  {
    path: 'backend.docker.network',
    values: 'other than `none`',
    meaning: 'note',
    foreignOnly: true,
    here: 'containers join no network here: models are asked, and tools called, through a door of their own. Where a turn needs more, write it in a file of this format; the policy has to allow it',
    when: ({ value }) => value !== 'none',
  },
  {
    path: 'backend.controllerUrl',
    meaning: 'note',
    ours: true,
    here: 'containers have a door of their own to the ToolHost, whose address is worked out',
    when: (found) => isSealed(found) || isApi(found),
  },
  {
    path: 'backend.docker.proxy',
    meaning: 'note',
    unread: true,
    here: 'containers join no network here, and models are asked by the ToolHost',
    asksNothing: (found) => hasOnly(found, proxyDefaults),
  },
  ...(['memory', 'cpus'] as const).map((limit): PublishedKey => ({
    path: `backend.docker.${limit}`,
    meaning: 'note',
    foreignOnly: true,
    here: 'is enforced here; older versions did not apply it',
    instead: () => [],
  })),
  { path: 'backend.docker.mounts[]', meaning: 'same', here: 'as far as the policy allows' },
  { path: 'backend.runner.mode', meaning: 'same', here: '`ai`, or `mock`, which plays a script' },
  { path: 'backend.runner.model', meaning: 'same', here: 'the preset of agents that name none' },
  {
    path: 'backend.runner.maxIterations',
    meaning: 'alias',
    here: '`turn.maxSteps`',
    instead: ({ path }) => [{ move: path, to: ['turn', 'maxSteps'] }],
  },
  {
    path: 'backend.runner.maxToolCalls',
    meaning: 'alias',
    here: '`turn.maxToolCalls`',
    instead: ({ path }) => [{ move: path, to: ['turn', 'maxToolCalls'] }],
  },
  {
    path: 'backend.runner.finalPrompt',
    meaning: 'note',
    here: 'nothing read it there either; what an agent is to do last belongs in its `prompt`',
  },
];
