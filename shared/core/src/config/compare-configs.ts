import { isDeepStrictEqual } from 'node:util';
import type { ConfigChange } from '@suzumio/contract/model/config-change';
import type { AgentConfig, ProjectConfig } from '@suzumio/contract/model/project-config';
import { withoutSecretValues } from './agent-env.js';
import { type Difference, type Effect, effectOf } from './change-effects.js';

/** What is known of a project that a new version of its file is for. */
export interface LivingFacts {
  /** Agents that were retired, as they were last: their ids are taken. */
  readonly former: Readonly<Record<string, AgentConfig>>;
  /** Agents that have no files yet, and no turn that may get some. */
  readonly withoutFiles: ReadonlySet<string>;
}

const nothingKnown: LivingFacts = { former: {}, withoutFiles: new Set() };

/**
 * The fields in which two versions of a project's file differ, with when each change counts. Both have the values of variables
 * and headers, which are compared and not told.
 */
export function compareConfigs(
  before: ProjectConfig,
  after: ProjectConfig,
  facts: LivingFacts = nothingKnown,
): ConfigChange[] {
  const shownBefore = byName(withoutSecretValues(before));
  const shownAfter = byName(withoutSecretValues(after));
  return differences(byName(before), byName(after), []).map((difference) => ({
    path: difference.path.join('.'),
    before: shownAt(shownBefore, difference.path),
    after: shownAt(shownAfter, difference.path),
    ...(returning(difference, facts) ??
      beginning(difference, after, facts) ??
      effectOf(difference, before.tools.toolpacks)),
  }));
}

/** Channels and toolpacks are known by their names; what says only that a file is a resolved one is no field. */
function byName({ rendered: _rendered, channels, tools, ...config }: ProjectConfig): object {
  return {
    ...config,
    channels: Object.fromEntries(channels.map(({ name, members }) => [name, members])),
    tools: { toolpacks: Object.fromEntries(tools.toolpacks.map(shownToolpack)) },
  };
}

/** What a toolpack's manifest says beyond the names of its tools changes with the hash of that file. */
function shownToolpack(pack: ProjectConfig['tools']['toolpacks'][number]): [name: string, shown: unknown] {
  if (typeof pack === 'string') return [pack, pack];
  if (!('path' in pack) || pack.taken === undefined) return [pack.id, pack];
  const { directory, files, tools } = pack.taken;
  const shownFiles = files.map(({ path, sizeBytes, sha256 }) => [path, `${String(sizeBytes)} B, sha256 ${sha256}`]);
  return [
    pack.id,
    {
      path: pack.path,
      directory,
      tools: Object.fromEntries(tools.map(({ name, description }) => [name, description])),
      files: Object.fromEntries(shownFiles) as Record<string, string>,
    },
  ];
}

function differences(before: unknown, after: unknown, path: readonly string[]): Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isMap(before) || !isMap(after)) return [{ path, before, after }];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => differences(own(before, key), own(after, key), [...path, key]));
}

function shownAt(config: object, path: readonly string[]): unknown {
  const value = path.reduce<unknown>((found, key) => (isMap(found) ? own(found, key) : undefined), config) ?? null;
  if (path.length !== 2 || path[0] !== 'agents' || !isMap(value)) return value;
  // Nobody writes that field: it says which entry the agent is of.
  return Object.fromEntries(Object.entries(value).filter(([field]) => field !== 'base'));
}

/** Names of a file may be those of what every object has. */
function own(map: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What becomes of an agent that was retired and is in the file again. It has to be the same one: its files and its turns are. */
function returning({ path, after }: Difference, { former }: LivingFacts): Effect | undefined {
  const [section, id = '', ...rest] = path;
  const last = Object.hasOwn(former, id) ? former[id] : undefined;
  if (section !== 'agents' || rest.length > 0 || last === undefined || after === undefined) return undefined;
  const others = differences(last, after, path).filter((difference) => effectOf(difference, []).effect === 'refused');
  if (others.length === 0) {
    return {
      effect: 'at-once',
      reason: `${id} is brought back, with its files and its memory. Mail that was not delivered to it stays so until it is delivered again.`,
    };
  }
  const fields = others.map((difference) => difference.path.slice(2).join('.')).join(', ');
  return {
    effect: 'refused',
    reason: `The id ${id} is that of an agent that was retired, which had another ${fields}: give this one another id, or bring that one back as it was.`,
  };
}

/** What an agent without files begins with can still be a clone of another repository. A copy is made where an agent is new. */
function beginning({ path }: Difference, { agents }: ProjectConfig, { withoutFiles }: LivingFacts): Effect | undefined {
  const [section, id = '', field] = path;
  if (section !== 'agents' || field !== 'workspace' || !withoutFiles.has(id)) return undefined;
  if (agents[id]?.workspace?.from !== undefined) return undefined;
  return { effect: 'next-turn', reason: `${id} has no files yet: its next turn begins with these.` };
}
