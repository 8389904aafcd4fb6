import { childOf, entriesOf, textOf } from './config-node.js';
import { type Edit, nodeAt } from './edit.js';
import { beside, holdsNothing, isEmpty, isEqual, lastOf, sibling } from './found-key.js';
import { configLimits } from './limits.js';
import type { Found, PublishedKey } from './published-key.js';

const models = 'backend.runner.models';
const provider = `${models}.providers.*`;
const preset = `${models}.presets.*`;
const presetDepth = preset.split('.').length;

/** The addresses at which other providers answer as OpenAI does. */
const compatible: Readonly<Record<string, string>> = {
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta/openai',
};

/** OpenAI's own provider: its address and key, unless they are given, and the Responses API for all of its presets. */
function asCompatible(found: Found): Edit[] {
  const { path, root } = found;
  const isGiven = (...names: string[]) => names.some((name) => sibling(found, name) !== undefined);
  const id = String(path.at(-2));
  const presets = [...models.split('.'), 'presets'];
  const own = entriesOf(nodeAt(root, presets))
    .slice(0, configLimits.presets)
    .filter(([, { value }]) => textOf(childOf(value, 'provider')) === id && childOf(value, 'api') === undefined);
  return [
    { set: path, value: 'openai-compatible' },
    ...(isGiven('baseURL', 'baseURLEnv')
      ? []
      : [{ set: beside(found, 'baseURL'), value: 'https://api.openai.com/v1' }]),
    ...(isGiven('apiKey', 'apiKeyEnv') ? [] : [{ set: beside(found, 'apiKeyEnv'), value: 'OPENAI_API_KEY' }]),
    ...own.map(([name]) => ({ set: [...presets, name, 'api'], value: 'responses' })),
  ];
}

/** The variable that is all of a text. */
function variableIn({ value }: Pick<Found, 'value'>): string | undefined {
  return typeof value === 'string' ? /^\$\{(?:env:)?([A-Za-z_]\w*)\}$/.exec(value.trim())?.[1] : undefined;
}

/** A list that also names a model is refused, as it was there. */
const isBesideList = (found: Found): boolean =>
  !['model-list', 'provider', 'model', 'apiModel'].includes(lastOf(found)) &&
  sibling(found, 'model-list') !== undefined;

const providerKeys: readonly PublishedKey[] = [
  {
    path: `${provider}.type`,
    values: '`openai`',
    meaning: 'alias',
    here: '`openai-compatible` at `https://api.openai.com/v1`, with the key in `OPENAI_API_KEY` unless another is named, and `api: responses` in its presets',
    when: isEqual('openai'),
    instead: asCompatible,
  },
  {
    path: `${provider}.type`,
    values: '`anthropic`, `google`',
    meaning: 'refused',
    here: 'models are asked by the API of OpenAI, which this provider serves at an address of its own',
    when: ({ value }) => typeof value === 'string' && Object.hasOwn(compatible, value),
    right: ({ value }) => `type: openai-compatible and baseURL: ${compatible[String(value)] ?? ''}`,
  },
  { path: `${provider}.type`, values: '`openai-compatible`', meaning: 'same', here: 'a server with the API of OpenAI' },
  {
    path: `${provider}.apiKey`,
    values: '`${NAME}`',
    meaning: 'alias',
    unread: true,
    here: '`apiKeyEnv: NAME`: the value never enters the project',
    when: (found) => variableIn(found) !== undefined,
    instead: (found) => [
      { set: found.path, value: variableIn(found) ?? '' },
      { move: found.path, to: beside(found, 'apiKeyEnv') },
    ],
  },
  {
    path: `${provider}.apiKey`,
    meaning: 'refused',
    here: 'no key stands in a project file: name the variable that holds it',
    code: 'secret-in-file',
    right: () => 'apiKeyEnv: NAME',
  },
  { path: `${provider}.apiKeyEnv`, meaning: 'same', here: 'the variable that holds the key' },
  {
    path: `${provider}.baseURLEnv`,
    values: 'beside `baseURL`',
    meaning: 'note',
    here: '`baseURL` counts, as it did there: leave one of them out',
    when: (found) => sibling(found, 'baseURL') !== undefined,
  },
  { path: `${provider}.baseURL`, meaning: 'same', here: 'its address' },
  { path: `${provider}.baseURLEnv`, meaning: 'same', here: 'the variable that holds its address' },
  { path: `${provider}.headers`, meaning: 'same', here: 'without credentials' },
  {
    path: `${provider}.timeoutMs`,
    values: '`false`',
    meaning: 'alias',
    here: '`24d`, the longest there is: `turn.timeout` ends a turn before',
    when: ({ value }) => String(value) === 'false',
    instead: ({ path }) => [{ set: path, value: '24d' }],
  },
  { path: `${provider}.timeoutMs`, meaning: 'same', here: 'how long an answer may take' },
  { path: `${provider}.chunkTimeoutMs`, meaning: 'same', here: 'how long an answer may be silent' },
  {
    path: `${provider}.options`,
    values: '`{}`',
    meaning: 'note',
    here: 'nothing is asked for',
    when: isEmpty,
    asksNothing: () => true,
  },
  {
    path: `${provider}.options`,
    meaning: 'refused',
    here: 'these were options of a program that is not used here: `headers` and `timeoutMs` are fields of a provider',
    right: () => 'headers: { NAME: VALUE }, or no options',
  },
];

const presetKeys: readonly PublishedKey[] = [
  {
    path: `${preset}.modelList`,
    meaning: 'alias',
    here: '`model-list`',
    instead: (found) => [{ move: found.path, to: beside(found, 'model-list') }],
  },
  {
    path: `${preset}.*`,
    values: 'beside `model-list`',
    meaning: 'note',
    here: 'the presets in the list count, each with its own settings; this was not used there either',
    when: isBesideList,
    asksNothing: (found) => isEmpty(found) || (lastOf(found) === 'contextLimit' && String(found.value) === '260000'),
  },
  ...['provider', 'model', 'apiModel', 'maxOutputTokens', 'toolChoice', 'reasoningEffort', 'topP', 'model-list'].map(
    (key): PublishedKey => ({ path: `${preset}.${key}`, meaning: 'same', here: 'as there' }),
  ),
  { path: `${preset}.temperature`, meaning: 'same', here: 'between 0 and 2' },
  {
    path: `${preset}.contextLimit`,
    meaning: 'same',
    here: 'the context of the model in tokens; 32000 unless it is given',
  },
  {
    path: `${preset}.topK`,
    meaning: 'note',
    here: 'the API of OpenAI has no such setting, and it was not sent to it there either',
  },
  {
    path: `${preset}.fallbacks`,
    meaning: 'note',
    here: 'nothing read it there either; `model-list` names presets that are tried in turn',
    asksNothing: isEmpty,
  },
  { path: `${preset}.headers`, meaning: 'same', here: 'beside those of its provider; without credentials' },
  ...['reasoningEffort', '*.reasoningEffort'].map((option): PublishedKey => ({
    path: `${preset}.providerOptions.${option}`,
    ...(option.startsWith('*') && { values: 'for a provider' }),
    meaning: 'alias',
    here: '`reasoningEffort` of the preset',
    instead: ({ path }) => [{ move: path, to: [...path.slice(0, presetDepth), 'reasoningEffort'] }],
  })),
  {
    path: `${preset}.providerOptions`,
    meaning: 'note',
    here: 'but for `reasoningEffort`, options that only some providers know are not sent',
    asksNothing: holdsNothing,
  },
];

/** What a file says of models. */
export const modelKeys: readonly PublishedKey[] = [
  {
    path: `${models}.default`,
    meaning: 'alias',
    here: '`backend.runner.model`',
    instead: ({ path }) => [{ move: path, to: ['backend', 'runner', 'model'] }],
  },
  ...providerKeys,
  ...presetKeys,
];
