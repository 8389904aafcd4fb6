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
    before: valueAt(shownBefore, difference.path),
    after: valueAt(shownAfter, difference.path),
    ...(returning(difference, facts) ??
      beginning(difference, after, facts) ??
      effectOf(difference, before.tools.toolpacks)),
  }));
}

/** Channels are known by their names; what says only that a file is a resolved one is no field. */
function byName({ rendered: _rendered, channels, ...config }: ProjectConfig): object {
  return { ...config, channels: Object.fromEntries(channels.map(({ name, members }) => [name, members])) };
}

function differences(before: unknown, after: unknown, path: readonly string[]): Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isMap(before) || !isMap(after)) return [{ path, before, after }];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => differences(before[key], after[key], [...path, key]));
}

function valueAt(config: object, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isMap(value) ? value[key] : undefined), config) ?? null;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What becomes of an agent that was retired and is in the file again. It has to be the same one: its files and its turns are. */
function returning({ path, after }: Difference, { former }: LivingFacts): Effect | undefined {
  const [section, id = '', ...rest] = path;
  const last = former[id];
  if (section !== 'agents' || rest.length > 0 || last === undefined || after === undefined) return undefined;
  const others = differences(last, after, path).filter((difference) => effectOf(difference, []).effect === 'refused');
  if (others.length === 0) {
    return {
      effect: 'at-once',
      reason: `${id} is brought back, with its files and its memory. Its undelivered mail is delivered again by agents reset --redeliver.`,
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
