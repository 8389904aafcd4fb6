import { Option } from 'commander';
import { usageGroups, usagePairs } from '@suzumio/contract/model/usage';
import type { BudgetView } from '@suzumio/contract/model/budget';
import { bytesInWords, type StoredView } from '@suzumio/contract/model/storage';
import { findReads, requireApi } from '../reach/reach.js';
import { plural } from '@suzumio/core/why/words';
import { dollars } from '../render/format.js';
import { budgetTable, usageTable } from '../render/usage-tables.js';
import { say, sayHint, sayJson, type Session } from '../session.js';
import { UsageError } from '../usage-error.js';
import type { Register } from './action.js';
import { amount, moment } from './arguments.js';
import { examples } from './help.js';
import { tell } from './tell.js';

/** The costs of models, and their budgets. */
export const registerUsage: Register = (program, action) => {
  examples(
    program
      .command('usage [project]')
      .description('say what calls of models came to: tokens and dollars')
      .addOption(
        new Option('--by <what>', 'what to add it up by, or two things at once')
          .choices([...usageGroups, ...usagePairs])
          .default('project'),
      )
      .option('--from <day>', 'calls from this day of UTC on, or from this moment', moment)
      .option('--to <day>', 'calls before this day of UTC, or before this moment', moment),
    ['usage', 'a line for each project'],
    ['usage newsroom --by agent'],
    ['usage newsroom --by day,model', 'what each model cost on each day'],
    ['usage --by day --from 2026-11-01'],
  ).action(action(usage));
  examples(
    program
      .command('budget <project>')
      .description('show what a project may use and has used, or change it')
      .option('--usd <n>', 'dollars that its models may cost; "unlimited" lifts the limit', amount)
      .option('--tokens <n>', 'tokens in and out', amount)
      .option('--turns <n>', 'turns', amount)
      .option('--agent <agent>', 'of one agent, instead of the whole project'),
    ['budget newsroom', 'what is left'],
    ['budget newsroom --usd 5', 'afterwards, agents retry goes on from where a turn stood'],
    ['budget newsroom --agent editor --turns unlimited'],
  ).action(action(budget));
};

interface UsageOptions {
  by: (typeof usageGroups | typeof usagePairs)[number];
  from?: number;
  to?: number;
}

async function usage(session: Session, project: string | undefined, options: UsageOptions): Promise<undefined> {
  const { by, from, to } = options;
  const answer = await (
    await findReads(session)
  ).getUsage({ query: { by, project, from: isoTime(from), to: isoTime(to) } });
  sayJson(session, answer);
  const { items, more, today } = answer;
  if (items.length === 0) say(session, 'No model has been asked.');
  else say(session, ...usageTable(answer, session));
  if (more > 0) say(session, `${more} more are added up in the total.`);
  if (today?.budgetUsd != null && today.leftUsd !== null) {
    const held = today.heldUsd === 0 ? '' : `, ${dollars(today.heldUsd)} held back by calls that run`;
    say(
      session,
      `today, all projects: ${dollars(today.spentUsd)} of ${dollars(today.budgetUsd)} spent${held}; ${dollars(today.leftUsd)} left`,
    );
  }
  say(session, ...storedLines(answer.stored));
  if (items.length > 0) sayHint(session, project === undefined ? 'usage --by day' : `budget ${project}`);
}

function isoTime(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/** Stored bytes, and the limits that are exceeded. */
function storedLines({ bytes, owners, projectsOverQuota, disk }: StoredView): string[] {
  if (!isStored({ bytes })) return [];
  const over = projectsOverQuota === 0 ? '' : `; ${plural(projectsOverQuota, 'project')} over quota`;
  const short = disk === null || disk.shortFor.length === 0 ? '' : ': the disk is short';
  const files = short === '' || disk?.freeFiles == null ? '' : `, and ${String(disk.freeFiles)} files`;
  const free = disk === null ? '' : `; ${bytesInWords(disk.freeBytes)}${files} free${short}`;
  const whose = owners.filter(isStored).sort((a, b) => (a.owner < b.owner ? -1 : 1));
  const width = Math.max(0, ...whose.map(({ owner }) => owner.length));
  return [
    `stored: ${filesAndRows(bytes)}${over}${free}`,
    ...whose.map((one) => `        ${one.owner.padEnd(width)}  ${filesAndRows(one.bytes)}`),
  ];
}

function isStored({ bytes }: Pick<StoredView, 'bytes'>): boolean {
  return Object.values(bytes).some((some) => some > 0);
}

function filesAndRows({ rows, ...files }: StoredView['bytes']): string {
  const all = Object.values(files).reduce((sum, one) => sum + one, 0);
  return `${bytesInWords(all)} of files, ${bytesInWords(rows)} of rows`;
}

type Limits = Partial<Record<'usd' | 'tokens' | 'turns', number | 'unlimited'>>;

async function budget(
  session: Session,
  project: string,
  { agent, ...limits }: Limits & { agent?: string },
): Promise<undefined> {
  if (Object.keys(limits).length === 0) {
    if (agent !== undefined) throw new UsageError('Say what changes: --usd, --tokens or --turns.', `budget ${project}`);
    const { items: budgets } = await (await findReads(session)).getBudget({ project });
    sayJson(session, budgets);
    say(session, ...budgetTable(budgets, session));
    sayHint(session, ...raising(project, budgets), `usage ${project} --by agent`);
    return;
  }
  const api = await requireApi(session);
  const { items: budgets } = await api.changeBudget({ project, body: { ...limits, agent } });
  const { agents } = await api.getProject({ project });
  const stuck = agents.filter(({ failure }) => failure?.code === 'budget-reached').map(({ id }) => id);
  const [one, ...others] = stuck;
  const next =
    one === undefined
      ? `status ${project}`
      : others.length === 0
        ? `agents retry ${project} ${one}`
        : `retry ${project} --failed`;
  tell(session, budgets, budgetTable(budgets, session), next);
}

/** How to raise what is used up. */
function raising(project: string, budgets: readonly BudgetView[]): string[] {
  return budgets.flatMap(({ agent, ...uses }) =>
    (['usd', 'tokens', 'turns'] as const)
      .filter((limit) => (uses[limit].limit ?? Infinity) <= uses[limit].used)
      .map((limit) => `budget ${project}${agent === null ? '' : ` --agent ${agent}`} --${limit} N`),
  );
}
