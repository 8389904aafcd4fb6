import { agentId } from '@suzumio/protocol/ids';
import { toolpackTools } from '@suzumio/protocol/tool-names';
import { itemsOf, textOf } from './config-node.js';
import { type Edit, nodeAt } from './edit.js';
import { admits, asId, beside, isEqual, lastOf, lists, listsLocalToolpacks, sibling, textsIn } from './found-key.js';
import type { Found, PublishedKey } from './published-key.js';

/** What an agent's id may not have. */
const others = /[^a-z0-9_]+/g;

const countOf = (found: Found): number | undefined => {
  const count = sibling(found, 'count');
  return count === undefined ? undefined : Number(count);
};

/** The names that are used, of one agent as its display name. */
const namesAsUsed = (found: Found): readonly Edit[] => {
  const count = countOf(found);
  const used = textsIn(found)?.slice(0, count ?? 1) ?? [];
  if (count !== undefined) return [{ set: found.path, value: used }];
  return [{ remove: found.path }, { set: beside(found, 'displayName'), value: used[0] ?? '' }];
};

const unservedTools = [
  'web.fetch',
  ...['once', 'recurring', 'list', 'cancel'].map((tool) => `schedule.${tool}`),
  ...['create', 'status', 'update', 'set_item_status', 'close'].map((tool) => `plan.${tool}`),
];

/** Whether a tool is one of a toolpack of the file's own. Until these are read, any may be. */
const isOfLocalToolpack = (found: Found): boolean =>
  found.offered === undefined ? listsLocalToolpacks(found) : admits(found, found.offered);

/** Whether the agent of an entry of `tools` may publish artifacts. */
function mayPublish({ root, path }: Found): boolean {
  const tools = itemsOf(nodeAt(root, path.slice(0, -1))).map(textOf);
  return tools.some((value) => value === '*' || admits({ value }, ['artifacts.publish']));
}

/** What a file says of agents. */
export const agentKeys: readonly PublishedKey[] = [
  {
    path: 'agents.*',
    values: 'other than `a-z`, `0-9`, `-` and `_`',
    meaning: 'refused',
    ours: true,
    code: 'key-invalid',
    here: 'expected 1 to 63 of a-z, 0-9, - and _, the first a letter or digit',
    when: (found) => !agentId.safeParse(lastOf(found)).success && asId(lastOf(found), others) !== '',
    right: (found) => `${asId(lastOf(found), others)}:`,
  },
  { path: 'agents.*.role', meaning: 'same', here: "its role; the agent's id, unless it is given" },
  { path: 'agents.*.prompt', meaning: 'same', here: 'its instructions; none, unless they are given' },
  { path: 'agents.*.displayName', meaning: 'same', here: 'its name for people' },
  { path: 'agents.*.count', meaning: 'same', here: 'as many agents, numbered; 1 is one agent, whose id stays' },
  {
    path: 'agents.*.names',
    values: 'without `count`',
    meaning: 'alias',
    ours: true,
    here: '`displayName`, of one agent',
    when: (found) => countOf(found) === undefined && textsIn(found)?.length === 1,
    instead: namesAsUsed,
  },
  {
    path: 'agents.*.names',
    values: 'more than `count`',
    meaning: 'note',
    ours: true,
    here: 'there are more names than agents, and the last ones are not used: `count` says how many agents there are',
    when: (found) => (textsIn(found)?.length ?? 0) > (countOf(found) ?? 1),
    instead: namesAsUsed,
  },
  { path: 'agents.*.names', meaning: 'same', here: 'their names, in this order' },
  { path: 'agents.*.model', meaning: 'same', here: 'its model preset' },
  { path: 'agents.*.mounts', meaning: 'same', here: 'as `backend.docker.mounts`' },
  { path: 'agents.*.env', meaning: 'same', here: "as far as the policy's `env` allows" },
  {
    path: 'agents.*.workspace',
    values: 'a text',
    meaning: 'note',
    here: 'nothing read it there either; `workspace: { from: DIRECTORY }` copies a directory into the new workspace',
    when: ({ value }) => typeof value === 'string',
  },
  {
    path: 'agents.*.tools[]',
    values: '`web.fetch`, `schedule.*`, `plan.*`',
    meaning: 'note',
    ours: true,
    here: 'no such tool is served yet, so it is not offered to the agent',
    when: (found) => admits(found, unservedTools) && !isOfLocalToolpack(found),
  },
  {
    path: 'agents.*.tools[]',
    values: '`file.*`',
    meaning: 'alias',
    ours: true,
    here: 'a tool of the toolpack `files`, which then counts as listed in `tools.toolpacks`',
    when: (found) => admits(found, toolpackTools.files) && !lists(found, 'files'),
    instead: () => [{ append: ['tools', 'toolpacks'], value: 'files' }],
  },
  {
    path: 'agents.*.tools[]',
    values: '`shell.*`, where the file does not list `shell`',
    meaning: 'note',
    foreignOnly: true,
    here: 'it was not offered to the agent there, and is not here: list the toolpack `shell` in `tools.toolpacks` if it is meant. In a file without other keys of the published format it is refused',
    when: (found) => admits(found, toolpackTools.shell) && !lists(found, 'shell') && !isOfLocalToolpack(found),
  },
  {
    path: 'agents.*.tools[]',
    values: '`shell.exec`, `file.write`, `file.patch`',
    meaning: 'alias',
    foreignOnly: true,
    here: 'the same with `artifacts.publish`: what an agent leaves in `/artifacts` is published, as others found it there without',
    when: (found) => admits(found, ['shell.exec', 'file.write', 'file.patch']) && !mayPublish(found),
    instead: ({ path }) => [{ append: path.slice(0, -1), value: 'artifacts.publish' }],
  },
  {
    path: 'agents.*.tools[]',
    meaning: 'same',
    here: 'names, `namespace.*` or `*`; a name that is unknown is refused',
  },
];

/** The tools that a file has. */
export const toolpackKeys: readonly PublishedKey[] = [
  {
    path: 'tools.toolpacks[]',
    values: '`web`',
    meaning: 'note',
    ours: true,
    here: 'the toolpack `web` is not served yet, and offers nothing',
    when: isEqual('web'),
  },
  {
    path: 'tools.toolpacks[]',
    values: '`artifacts`',
    meaning: 'alias',
    here: '`core`, which is always there',
    when: isEqual('artifacts'),
    instead: ({ path }) => [{ remove: path }],
  },
  {
    path: 'tools.toolpacks[]',
    values: '`{ path }`, `{ id, path }`',
    meaning: 'same',
    here: 'a toolpack of your own, of a directory that the policy names or that `up` asks about; its `webui` and its scheduler hooks are not run',
  },
  { path: 'tools.toolpacks[]', values: '`core`, `shell`', meaning: 'same', here: 'the toolpack of that name' },
];
