import { oneLine, visibleLines } from '@suzumio/core/prompt/body';
import type { ProfileSummary, ProfileView, TeamSummary, TeamView } from '@suzumio/contract/model/profile';
import type { Session } from '../session.js';
import { count, dayAndTime } from './format.js';
import { table } from './table.js';

export function profileTable(profiles: readonly ProfileSummary[], { context }: Session): string[] {
  return table(
    ['NICKNAME', 'ROLE', 'TEAM', 'MODEL', 'SKILLS', 'SINCE', 'RETIRED'],
    profiles.map((profile) => [
      profile.nickname,
      profile.role,
      profile.team ?? '-',
      profile.model ?? '-',
      profile.skills.length === 0 ? '-' : profile.skills.join(', '),
      dayAndTime(profile.createdAt, context),
      profile.retiredAt === null ? '-' : dayAndTime(profile.retiredAt, context),
    ]),
    context.out,
  );
}

/** All of a profile. */
export function profileLines(profile: ProfileView, { context }: Session): string[] {
  const { nickname, role, team, model, skills, version, editedBy, retiredAt } = profile;
  return [
    `${nickname}, ${role}${team === null ? '' : ` of the team ${team}`}`,
    `  id       ${profile.id}`,
    `  model    ${model ?? "the project's own"}`,
    `  since    ${dayAndTime(profile.createdAt, context)}, changed ${dayAndTime(profile.updatedAt, context)}`,
    `  version  ${String(version)}${editedBy === null ? '' : `, by ${oneLine(editedBy)}`}`,
    ...(retiredAt === null ? [] : [`  retired  ${dayAndTime(retiredAt, context)}`]),
    '',
    'Persona:',
    ...indented(profile.persona),
    ...skills.flatMap(({ name, text }) => [
      '',
      `Skill ${name}, ${count(Buffer.byteLength(text), 'byte')}:`,
      ...indented(text),
    ]),
  ];
}

export function teamTable(teams: readonly TeamSummary[], { context }: Session): string[] {
  return table(
    ['TEAM', 'MEMBERS', 'STANDING PROJECT', 'DESCRIPTION'],
    teams.map((team) => [
      team.name,
      String(team.members),
      team.project ?? '-',
      team.description === '' ? '-' : (visibleLines(team.description)[0] ?? '-'),
    ]),
    context.out,
  );
}

export function teamLines({ name, description, members, project }: TeamView): string[] {
  return [
    name,
    ...(description === '' ? [] : indented(description)),
    `  standing project: ${project ?? 'none'}`,
    ...(members.length === 0 ? ['  no members'] : members.map(({ nickname, role }) => `  ${nickname}, ${role}`)),
  ];
}

/** Texts of people, without what could steer a terminal. */
function indented(text: string): string[] {
  return visibleLines(text.trimEnd()).map((line) => `  ${line}`.trimEnd());
}
