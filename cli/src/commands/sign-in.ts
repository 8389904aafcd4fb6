import { browserOpens } from '../browser.js';
import { findKept, requireApi } from '../reach/reach.js';
import { count, dayAndTime } from '../render/format.js';
import { sessionTable } from '../render/token-tables.js';
import { say, sayHint, sayJson, type Session } from '../session.js';
import { UsageError } from '../usage-error.js';
import type { Register } from './action.js';
import { examples } from './help.js';
import { sayRows } from './list.js';
import { tell } from './tell.js';

/** The page: a link that signs a browser in, and the browsers that are signed in. */
export const registerSignIn: Register = (program, action) => {
  examples(
    program
      .command('open [project]')
      .description('open the page in a browser, signed in by a link that works once')
      .option('--at <page>', 'this page of the project, or without a project of all: what stands in its address')
      .option('--print', 'only print the link, for a browser elsewhere')
      .option('--as <token>', 'signed in as another token, by its name: for administrators'),
    ['open', 'the inbox: what waits for you'],
    ['open newsroom', 'what a project does'],
    ['open newsroom --at turns/ada:3', 'one turn of an agent'],
    ['open --at cost', 'what all projects cost'],
    ['open --print'],
    ['open --print --as yuki', 'a link for somebody else'],
  ).action(action(open));
  const group = program.command('sessions').description('say which browsers are signed in');
  examples(group.command('list').description('list the browsers that are signed in'), ['sessions list']).action(
    action(list),
  );
  examples(
    group
      .command('end [session]')
      .description('sign a browser out, at once, or all of a token')
      .option('--token <name>', 'every browser of this token, and the links that would sign in as it'),
    ['sessions end ses_01JX0000000000000000000000'],
    ['sessions end --token yuki'],
  ).action(action(end));
};

async function open(
  session: Session,
  project: string | undefined,
  { at, print = false, as: token }: { at?: string; print?: boolean; as?: string },
) {
  const api = await requireApi(session);
  // A misspelt name is said here, not on the page.
  if (project !== undefined) await api.getProject({ project });
  const body = {
    ...(project === undefined && at === undefined ? {} : { path: pathOf(project, at) }),
    ...(token === undefined ? {} : { token }),
  };
  const link = await api.createSignInLink({ body });
  sayJson(session, link);
  if (session.json) return undefined;
  const { context } = session;
  if (print || !(await browserOpens(link.url))) {
    context.out.write(`${link.url}\n`);
    if (link.expiresAt !== null) {
      context.err.write(
        `It signs one browser in, until ${dayAndTime(link.expiresAt, context)}; whoever opens it is ${token ?? 'you'}.\n`,
      );
    }
    return undefined;
  }
  say(session, `Opened in your browser: ${link.url.split('#')[0] ?? ''}`);
  sayHint(session, 'open --print', 'sessions list');
  return undefined;
}

/** The path of a page, from what a person says of it: with or without a slash before it, or only its query. */
function pathOf(project: string | undefined, at = ''): string {
  const page = at.replace(/^[/\\]+/, '');
  const below = project === undefined ? '/' : `/p/${project}${page === '' || page.startsWith('?') ? '' : '/'}`;
  // As a browser writes addresses: blanks, and letters of other scripts.
  const { pathname, search } = new URL(below + page, 'http://here');
  return pathname + search;
}

async function list(session: Session): Promise<undefined> {
  const { items } = await (await findKept(session)).listSessions();
  sayRows(session, items, 'No browser is signed in.', sessionTable);
  sayHint(session, 'open', 'sessions end SESSION');
}

async function end(session: Session, id: string | undefined, { token }: { token?: string }): Promise<undefined> {
  if ((id === undefined) === (token === undefined)) {
    throw new UsageError('name the session to end, or with --token the token whose sessions end');
  }
  const api = await findKept(session);
  if (token !== undefined) {
    const { items } = await api.endSessions({ query: { token } });
    tell(
      session,
      items,
      [`${count(items.length, 'browser')} of ${token} signed out; its links sign nobody in.`],
      'sessions list',
    );
  } else if (id !== undefined) {
    const { session: ended } = await api.endSession({ session: id });
    tell(session, ended, [`That browser is signed out: it opens nothing any more.`], 'sessions list');
  }
}
