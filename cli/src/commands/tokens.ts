import { type Command, Option } from 'commander';
import { parse } from '@suzumio/runtime/http/validate';
import { type TokenScope, tokenScopes, type TokenView } from '@suzumio/contract/model/access-token';
import { createTokenRequest } from '@suzumio/contract/operations/tokens';
import { findApi, findKept } from '../reach/reach.js';
import { dayAndTime } from '../render/format.js';
import { auditTable, tokenTable } from '../render/token-tables.js';
import { say, sayHint, sayJson, type Session } from '../session.js';
import type { Register } from './action.js';
import { examples } from './help.js';
import { sayRows, withLimit } from './list.js';
import { tell } from './tell.js';

/** Tokens: who may use the API, and which workers and handlers may claim turns. */
export const registerTokens: Register = (program, action) => {
  const group: Command = program
    .command('tokens')
    .description('say who may use the API, and which workers and handlers may claim turns');
  examples(
    group
      .command('create <name>')
      .description('make a token and print its secret, this once')
      .addOption(new Option('--scope <scope>', 'what it opens').choices(tokenScopes).makeOptionMandatory())
      .option('--project <project>', 'only that project')
      .option('--agents <agents>', 'for a handler: the agents whose turns it runs, with commas between them')
      .option('--expires <when>', 'a time such as 30d, or a moment such as 2030-01-31T12:00:00Z; never, unless told'),
    ['tokens create ci --scope write --project newsroom --expires 30d'],
    ['tokens create form --scope mail --project newsroom', 'for a form that only sends mail'],
    ['tokens create east-1 --scope worker', 'for a turn-worker'],
    ['tokens create desk --scope handler --project newsroom --agents editor,checker', 'for a program of your own'],
  ).action(action(create));
  examples(group.command('list').description('list the tokens, without their secrets'), ['tokens list']).action(
    action(list),
  );
  examples(group.command('revoke <name>').description('take a token back, at once and for ever'), [
    'tokens revoke ci',
  ]).action(action(revoke));
  examples(withLimit(group.command('audit').description('list what holders of good tokens tried and may not')), [
    'tokens audit',
  ]).action(action(audit));
};

async function create(
  session: Session,
  name: string,
  options: { scope: TokenScope; project?: string; agents?: string; expires?: string },
): Promise<undefined> {
  const { scope, project, expires } = options;
  const agents = options.agents?.split(',').map((agent) => agent.trim());
  const request = parse(createTokenRequest, { name, scope, project, agents, expires }, 'token');
  const created = await (await findKept(session)).createToken({ body: request });
  sayJson(session, created);
  if (session.json) return;
  const { context } = session;
  // The secret alone, so that it can be caught in a variable or a file.
  context.out.write(`${created.secret}\n`);
  context.err.write(`${created.token.name} ${opens(created.token)}, ${until(created.token, session)}.\n`);
  context.err.write('The secret is shown this once; whoever has it is taken for its owner.\n');
  if (scope === 'handler') context.err.write(`SUZUMIO_TOOLHOST_URL of the handler: ${await handlersUrl(session)}.\n`);
  sayHint(session, 'tokens list', `tokens revoke ${name}`);
}

/** Where handlers find the ToolHost, as far as the server knows. */
async function handlersUrl(session: Session): Promise<string> {
  const system = await (await findApi(session))?.getSystem().catch(() => undefined);
  return system?.toolhosts[0]?.url ?? "the ToolHost's listener for workers, which suzumio serve prints";
}

function opens({ scope, project, agents }: TokenView): string {
  const what = project === null ? 'every project' : `the project ${project}`;
  switch (scope) {
    case 'read':
      return `may read ${what}`;
    case 'mail':
      return `may read ${what} and send mail there`;
    case 'operate':
      return `may read ${what}, send mail there and keep it going`;
    case 'write':
      return project === null ? 'may make projects, and read and change every one' : `may read and change ${what}`;
    case 'admin':
      return `may do everything in ${project === null ? 'the cell' : what}`;
    case 'worker':
      return 'may claim turns at the ToolHost';
    case 'handler':
      return `may run the turns of ${(agents ?? []).join(', ')} in ${what}`;
  }
}

function until({ expiresAt }: TokenView, { context }: Session): string {
  return expiresAt === null ? 'until it is revoked' : `until ${dayAndTime(expiresAt, context)}`;
}

async function list(session: Session): Promise<undefined> {
  const { items: tokens } = await (await findKept(session)).listTokens();
  sayRows(session, tokens, 'There are no tokens yet; the first start of a server makes one.', tokenTable);
  sayHint(session, 'tokens create NAME --scope read');
}

async function revoke(session: Session, name: string): Promise<undefined> {
  const { token } = await (await findKept(session)).revokeToken({ token: name });
  tell(session, token, [`${name} is revoked: it opens nothing any more.`], 'tokens list');
  if (name !== 'admin') return;
  say(session, 'The commands on this machine used it. For another one, remove admin.token from the data directory');
  say(session, 'before the next start; or make a token and set SUZUMIO_TOKEN to it.');
}

async function audit(session: Session, { limit }: { limit: number }): Promise<undefined> {
  const { items: entries } = await (await findKept(session)).listAudit({ query: { limit } });
  sayRows(session, entries, 'Nobody with a good token was refused anything.', auditTable);
  sayHint(session, 'tokens list');
}
