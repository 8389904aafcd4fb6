import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { ReadOnlyCell } from '@suzumio/store/cell/read-only-cell';
import { type ProjectVerdict, verifyCatalogue, verifyProject } from '@suzumio/store/cell/verify';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { paint } from '../render/colors.js';
import { count, size } from '../render/format.js';
import { say, sayHint, sayJson, type Session } from '../session.js';
import type { Register } from './action.js';
import { examples } from './help.js';

export const registerVerify: Register = (program, action) => {
  examples(
    program
      .command('verify [project]')
      .description('look whether all that is stored is whole and agrees; changes nothing, and needs no server'),
    ['verify', 'the whole data directory'],
    ['verify newsroom --json', 'of one project, what is wrong as data'],
  ).action(action(verify));
};

async function verify(session: Session, named: string | undefined): Promise<ExitCode> {
  const { context, root, url } = session;
  if (url !== undefined) {
    throw new SuzumioError(
      'invalid-request',
      'verify reads a data directory of this machine, not a server: name it with --root; of a stack, that of a backup.',
    );
  }
  const cell = new ReadOnlyCell(root);
  const projects = named === undefined ? cell.projects() : [named];
  const verdicts: ProjectVerdict[] = [];
  const width = Math.max(0, ...projects.map((project) => project.length));
  for (const project of projects) {
    const verdict = await verifyProject(cell, project);
    verdicts.push(verdict);
    say(session, ...rendered(verdict, width, session));
  }
  const catalog = named === undefined ? await verifyCatalogue(cell) : [];
  for (const { what, detail } of catalog) say(session, `${paint(context.out).red(what)}  ${detail}`);
  sayJson(session, { projects: verdicts, catalog });
  const flaws = catalog.length + verdicts.reduce((sum, verdict) => sum + verdict.flaws.length, 0);
  if (flaws > 0) {
    const many = flaws === 1 ? '1 thing is not as it' : `${flaws} things are not as they`;
    say(session, '', `${many} should be. Nothing was changed.`);
    say(session, `Keep a copy of ${root} as it is before anything else is tried.`);
    return exitCodes.failed;
  }
  if (projects.length === 0) {
    say(session, `No projects in ${root} yet.`);
    sayHint(session, 'init FILE');
  } else {
    say(session, '', 'All is whole.');
    sayHint(session, 'status');
  }
  return exitCodes.ok;
}

function rendered(
  { project, contents, contentBytes, flaws }: ProjectVerdict,
  width: number,
  { context }: Session,
): string[] {
  const colors = paint(context.out);
  const files = contents === 0 ? 'no files' : `${count(contents, 'file')}, ${size(contentBytes)}`;
  const state = flaws.length === 0 ? colors.green('ok     ') : colors.red('broken ');
  return [
    `${state}  ${project.padEnd(width)}  ${files}`,
    ...flaws.map(({ what, detail }) => `         ${what}: ${detail}`),
  ];
}
