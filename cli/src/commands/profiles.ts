import { basename } from 'node:path';
import type { Command } from 'commander';
import { readTextFile } from '@suzumio/runtime/disk/files';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { parse } from '@suzumio/runtime/http/validate';
import { createProfileRequest, updateProfileRequest } from '@suzumio/contract/operations/profiles';
import type { Skill } from '@suzumio/contract/model/skill';
import type { Priority } from '@suzumio/protocol/ids';
import { findKept, requireApi } from '../reach/reach.js';
import { profileLines, profileTable } from '../render/profile-tables.js';
import { say, sayHint, sayJson, sayNext, type Session } from '../session.js';
import type { Register } from './action.js';
import { collected, messageOfWords, withMessage } from './arguments.js';
import { edited, withBase } from './edit.js';
import { examples } from './help.js';
import { sayRows, withLimit } from './list.js';
import { tell } from './tell.js';

/** Profiles: identities that agents of any project may start from. */
export const registerProfiles: Register = (program, action) => {
  const group: Command = program
    .command('profiles')
    .description('keep identities that agents of any project start from');
  examples(
    group
      .command('create <nickname>')
      .description('register a profile; its nickname is its own for ever')
      .requiredOption('--role <role>', 'what it is to a project')
      .requiredOption('--persona <file>', 'its prompt, with variables such as {{project.name}}')
      .option('--team <team>', 'the team that it is in')
      .option('--model <preset>', 'the preset that it is to think with, where a project has it')
      .option('--skill <file>', 'a text for each of its prompts; may be given again', collected),
    ['profiles create Akari --role researcher --persona akari.md --team research --skill sources.md'],
  ).action(action(create));
  examples(
    withLimit(
      group
        .command('list')
        .description('list profiles by nickname')
        .option('--role <role>', 'only those of this role')
        .option('--team <team>', 'only those of this team')
        .option('--retired', 'those that are retired', false),
    ),
    ['profiles list --team research --role researcher'],
  ).action(action(list));
  examples(group.command('show <nickname>').description('show all of a profile, retired or not'), [
    'profiles show Akari',
  ]).action(action(show));
  examples(
    withBase(
      group
        .command('update <nickname>')
        .description('change a profile; projects that started from it keep what it was')
        .option('--role <role>', 'what it is to a project')
        .option('--persona <file>', 'its prompt')
        .option('--team <team>', 'the team that it is in')
        .option('--no-team', 'no team')
        .option('--model <preset>', 'the preset that it is to think with')
        .option('--no-model', "each project's own model")
        .option(
          '--skill <file>',
          'a text for its prompts, in the place of all that it had; may be given again',
          collected,
        )
        .option('--no-skill', 'no skills'),
    ),
    ['profiles update Akari --team news --no-model'],
    ['profiles update Akari --skill sources.md --skill style.md'],
    ['profiles update Akari --persona akari.md --base 3', 'unless it was changed since version 3'],
  ).action(action(update));
  examples(
    group.command('retire <nickname>').description('keep a profile for history: no new project starts from it'),
    ['profiles retire Akari'],
  ).action(action(retire));
  examples(
    withMessage(
      group
        .command('send')
        .description('send mail to a profile, in the standing project of its team')
        .argument('<nickname>'),
    ),
    ['profiles send Akari P1 "What do we know of the north gauge?"'],
  ).action(action(send));
};

interface Fields {
  role?: string;
  persona?: string;
  team?: string | false;
  model?: string | false;
  skill?: string[] | false;
}

/** Options as a request has them: files are read, and what is switched off is none. */
function fieldsOf({ role, persona, team, model, skill }: Fields) {
  return {
    role,
    persona: persona === undefined ? undefined : textOf('--persona', persona),
    team: team === false ? null : team,
    model: model === false ? null : model,
    skills:
      skill === false ? [] : skill?.map((file): Skill => ({ name: basename(file), text: textOf('--skill', file) })),
  };
}

function textOf(option: string, file: string): string {
  const content = readTextFile(file);
  if (content.ok) return content.text;
  throw new SuzumioError('invalid-request', `${option} takes the name of a file (${content.message}).`);
}

async function create(session: Session, nickname: string, options: Fields): Promise<undefined> {
  const request = parse(createProfileRequest, { nickname, ...fieldsOf(options) }, 'profile');
  const { profile } = await (await findKept(session)).createProfile({ body: request });
  tell(
    session,
    profile,
    [
      `${nickname} is registered: ${profile.role}${profile.team === null ? '' : ` of the team ${profile.team}`}.`,
      `An agent of a project file starts from it with profile: ${nickname}`,
    ],
    `profiles show ${nickname}`,
  );
}

async function list(
  session: Session,
  options: { role?: string; team?: string; retired: boolean; limit: number },
): Promise<undefined> {
  const { retired, ...which } = options;
  const query = { ...which, retired: retired ? 'true' : 'false' } as const;
  const { items: profiles } = await (await findKept(session)).listProfiles({ query });
  sayRows(session, profiles, 'There are no such profiles.', profileTable);
  sayHint(
    session,
    profiles[0] ? `profiles show ${profiles[0].nickname}` : 'profiles create NICKNAME --role ROLE --persona FILE',
  );
}

async function show(session: Session, nickname: string): Promise<undefined> {
  const { profile } = await (await findKept(session)).getProfile({ profile: nickname });
  sayJson(session, profile);
  say(session, ...profileLines(profile, session));
}

async function update(
  session: Session,
  nickname: string,
  { base, ...options }: Fields & { base?: number },
): Promise<undefined> {
  const body = parse(updateProfileRequest, { ...fieldsOf(options), baseVersion: base }, 'profile');
  const api = await findKept(session);
  const of = { profile: nickname };
  const { profile } = await edited(session, api.updateProfile({ ...of, body }), async () =>
    profileLines((await api.getProfile(of)).profile, session),
  );
  tell(
    session,
    profile,
    [`${profile.nickname} is changed, for projects that are made from now on.`],
    `profiles show ${profile.nickname}`,
  );
}

async function retire(session: Session, nickname: string): Promise<undefined> {
  const { profile } = await (await findKept(session)).retireProfile({ profile: nickname });
  tell(
    session,
    profile,
    [`${profile.nickname} is retired: no new project starts from it, and those that did go on.`],
    'profiles list --retired',
  );
}

async function send(session: Session, nickname: string, priority: Priority, words: string[]): Promise<undefined> {
  const body = messageOfWords(words, 'profiles send');
  const api = await requireApi(session);
  const sent = await api.sendToProfile({ profile: nickname, body: { priority, body } });
  sayJson(session, sent);
  say(session, `Sent to ${nickname} as ${sent.id}, unread by ${sent.recipients.join(', ')} in ${sent.project}.`);
  sayNext(session, `watch ${sent.project}`);
}
