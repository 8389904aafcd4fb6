import type { ConfigChange } from '@suzumio/contract/model/config-change';
import { admittedTools, toolsOfPacks } from '@suzumio/protocol/tool-names';

/** A field in which two versions of a project's file differ; undefined where one does not have it. */
export interface Difference {
  readonly path: readonly string[];
  readonly before: unknown;
  readonly after: unknown;
}

/** When a change counts, and what that means. */
export type Effect = Pick<ConfigChange, 'effect' | 'reason'>;

/** What holds for a field and all below it. `*` stands for any one name. The first rule that fits holds. */
interface Rule {
  readonly path: string;
  readonly of: Effect | ((difference: Difference, packs: readonly unknown[]) => Effect | undefined);
}

const refused = (reason: string): Effect => ({ effect: 'refused', reason });
const atOnce = (reason: string): Effect => ({ effect: 'at-once', reason });
const nextTurn = (reason: string): Effect => ({ effect: 'next-turn', reason });

const filesStay = refused(
  'The files of an agent stay what they began as: retire it, and add an agent with another id and these files. Of what is cloned, ref alone can change.',
);

const rules: readonly Rule[] = [
  { path: 'name', of: refused('A project keeps its name: "suzumio init" makes another project of the file.') },
  {
    path: 'backend.runner.mode',
    of: refused(
      'Scripts and models cannot take over from each other: make another project of the file, under another name.',
    ),
  },
  {
    path: 'agents.*.backend',
    of: ({ before, after }) =>
      before === 'external' || after === 'external'
        ? refused('A handler runs the turns of an agent always or never: retire it, and add an agent with another id.')
        : undefined,
  },
  {
    path: 'agents.*.workspace.ref',
    of: nextTurn('The repository is looked for there before its next turn; its files stay as they are.'),
  },
  { path: 'agents.*.workspace', of: filesStay },
  {
    path: 'agents.*.profile',
    of: refused(
      'An agent stays who it is: retire it, and add an agent with another id that starts from that profile. Role and prompt can be written here.',
    ),
  },
  { path: 'agents.*.tools', of: ofTools },
  {
    path: 'agents.*.budget',
    of: atOnce('Counted from now on, with what is used already. What "suzumio budget" has set stays on top.'),
  },
  { path: 'agents.*.displayName', of: atOnce('Mail finds it by this name from now on.') },
  { path: 'agents.*.team', of: atOnce('Mail to teams finds it so from now on.') },
  { path: 'agents.*.notices', of: atOnce('It is told of what others do so from now on.') },
  { path: 'agents.*.maxTurnsPerHour', of: nextTurn('Counted when its next turn is to begin.') },
  { path: 'agents.*', of: ofAgent },
  { path: 'tools.toolpacks.*.tools.*', of: ofOwnTool },
  { path: 'tools.toolpacks.*', of: ofToolpack },
  { path: 'channels.*', of: ofChannel },
  {
    path: 'budget',
    of: atOnce('Counted from now on, with what is used already. What "suzumio budget" has set stays on top.'),
  },
  { path: 'protection', of: atOnce('Counted from now on.') },
  { path: 'communication', of: atOnce('Mail that is written from now on is held to it, in turns that run, too.') },
  {
    path: 'git.shared',
    of: ({ after }) =>
      after === true ? undefined : atOnce('Nothing is pushed or fetched from now on; what was pushed stays.'),
  },
  {
    path: 'git.lfs',
    of: nextTurn('Clones that are made from now on go by it, and what is new in the repository does.'),
  },
  {
    path: 'git.submodules',
    of: nextTurn('Clones that are made from now on go by it, and what is new in the repository does.'),
  },
  { path: 'git.maintainers', of: ofList('These move their own branches alone from now on') },
  { path: 'scheduler', of: nextTurn('Counted when the next turn is to begin.') },
  {
    path: 'observability',
    of: { effect: 'next-start', reason: 'It counts where "suzumio up" starts a server with the file.' },
  },
];

/**
 * When a difference counts, if it is applied to a living project.
 *
 * @param packs the toolpacks that the project has before
 */
export function effectOf(difference: Difference, packs: readonly unknown[]): Effect {
  for (const { path, of } of rules) {
    if (!fits(path.split('.'), difference.path)) continue;
    const effect = typeof of === 'function' ? of(difference, packs) : of;
    if (effect) return effect;
  }
  return nextTurn('Turns that have begun end with what they began with.');
}

function fits(pattern: readonly string[], path: readonly string[]): boolean {
  return pattern.length <= path.length && pattern.every((part, index) => part === '*' || part === path[index]);
}

/** An agent comes or goes, or has another value in a field that no other rule is about. */
function ofAgent({ path, before, after }: Difference): Effect | undefined {
  const [, id = '', ...field] = path;
  if (field.length > 0)
    return nextTurn(`From the next turn of ${id}. One that has begun ends with what it began with.`);
  if (before === undefined) return atOnce(`${id} is new, and quiet until it gets mail.`);
  if (after !== undefined) return undefined;
  return atOnce(
    `${id} is retired: its turn is cancelled, its mail is undelivered, and its id stays taken. What it made stays.`,
  );
}

function ofTools({ before, after }: Difference, packs: readonly unknown[]): Effect | undefined {
  const all: string[] = [...toolsOfPacks(packs), ...packs.flatMap(ownTools)];
  const kept = new Set(admittedTools(textsOf(after), all));
  const gone = admittedTools(textsOf(before), all).filter((tool) => !kept.has(tool));
  if (gone.length === 0) return undefined;
  return atOnce(`Refused from now on, in a turn that runs, too: ${gone.join(', ')}.`);
}

/** The tools of a local toolpack. */
function ownTools(pack: unknown): string[] {
  const taken =
    typeof pack === 'object' && pack !== null && 'taken' in pack
      ? (pack.taken as { tools: { name: string }[] })
      : undefined;
  return taken?.tools.map(({ name }) => name) ?? [];
}

/** A tool in the manifest of a local toolpack. */
function ofOwnTool({ after }: Difference): Effect | undefined {
  return after === undefined ? atOnce('Refused from now on, in turns that run, too.') : undefined;
}

/** A toolpack comes or goes, or a local one has another directory or other files. */
function ofToolpack({ path, before, after }: Difference): Effect {
  const isWhole = path.length === 3;
  if (isWhole && after === undefined) return atOnce('Its tools are refused from now on, in turns that run, too.');
  if (isWhole && before === undefined) return nextTurn('Agents that may use its tools have them from their next turn.');
  return nextTurn('From the next turn of each agent. One that has begun ends with the files that it began with.');
}

function ofChannel({ before, after }: Difference): Effect {
  if (before === undefined) return atOnce('It takes mail from now on.');
  if (after === undefined) return atOnce('It takes no mail from now on; what was sent stays.');
  return atOnce('Mail to it goes to these from now on.');
}

/** What a list loses counts at once, what it gains from the next turn. */
function ofList(lost: string): (difference: Difference) => Effect | undefined {
  return ({ before, after }) => {
    const kept = new Set(textsOf(after));
    const gone = textsOf(before).filter((item) => !kept.has(item));
    return gone.length === 0 ? undefined : atOnce(`${lost}: ${gone.join(', ')}.`);
  };
}

function textsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.map(nameOf) : [];
}

function nameOf(item: unknown): string {
  if (typeof item === 'string') return item;
  return typeof item === 'object' && item !== null && 'id' in item ? String(item.id) : JSON.stringify(item);
}
