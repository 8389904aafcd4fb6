import type { Operation } from '@suzumio/contract/operations/operation';
import type { Answer } from './api.js';
import type { ContractWorld, Sample } from './contract-world.js';
import { noteBodies, otherNoteBodies } from './note-samples.js';
import { standingYaml } from './register-samples.js';

let made = 0;
const next = (word: string) => `${word}-${String(++made)}`;

/** What is sent to operations on profiles and teams. */
export const profileBodies: Readonly<Record<string, () => unknown>> = {
  createProfile: () => ({
    nickname: next('Kei'),
    role: 'writer',
    persona: 'You are {{agent.nickname}}.',
    team: 'research',
  }),
  updateProfile: () => ({ role: 'researcher' }),
  sendToProfile: () => ({ body: 'Hello.' }),
  createTeam: () => ({ name: next('made'), description: 'Made here.' }),
  updateTeam: () => ({ description: 'Finds out.' }),
  ...noteBodies,
};

/** Changes of these that make them others. */
export const otherProfileBodies: Readonly<Record<string, unknown>> = {
  createProfile: { role: 'other' },
  updateProfile: { role: 'other' },
  createTeam: { description: 'Other.' },
  updateTeam: { description: 'Other.' },
  ...otherNoteBodies,
};

/** What operations are about that would spoil the samples for others. */
export async function ownSubject({ api }: ContractWorld, name: string): Promise<Sample> {
  const { teams, profiles } = api.cell.catalog;
  const fresh = next('fresh');
  const join = (nickname: string) =>
    profiles.create({ nickname, role: 'r', team: fresh, persona: 'p', model: null, skills: [] });
  switch (name) {
    case 'retireProfile 200':
      await teams.create({ name: fresh, description: '' });
      return { profile: (await join(next('Gone'))).nickname };
    case 'deleteTeam 200':
      await teams.create({ name: fresh, description: '' });
      return { team: fresh };
    case 'standUpTeam 201':
      await teams.create({ name: fresh, description: '' });
      await join(next('Member'));
      return { team: fresh, body: { file: standingYaml(fresh) } };
    default:
      return {};
  }
}

/** How operations on profiles and teams, and files that name profiles, are made to refuse. */
export function profileRefusal(world: ContractWorld, operation: Operation, code: string): Promise<Answer> | undefined {
  const { id } = operation;
  const body = profileBodies[id]?.() as Record<string, unknown> | undefined;
  const ask = (sample: Sample) => world.call(operation, { ...(body === undefined ? {} : { body }), ...sample });
  const files: Readonly<Record<string, string>> = {
    'profile-unknown': standingYaml(next('file'), 'one: { profile: Nobody }'),
    'profile-retired': standingYaml(next('file'), 'one: { profile: Old }'),
    'invalid-config': 'name: [',
    'not-supported-yet': standingYaml(next('file'), 'zoe: { role: zoe, backend: external, env: { A: b } }'),
    'policy-denied': standingYaml(next('file'), 'one: { profile: Akari, workspace: { from: /etc } }'),
    'project-exists': standingYaml('team'),
    'team-empty': standingYaml(next('file')),
  };
  const file = files[code];
  const isProfileFile = id === 'createProject' && code.startsWith('profile-');
  if (file !== undefined && (id === 'standUpTeam' || isProfileFile)) {
    return ask({ team: code === 'team-empty' ? 'empty' : 'research', body: { file } });
  }
  switch (`${id} ${code}`) {
    case 'createProfile profile-exists':
      return ask({ body: { ...body, nickname: 'Akari' } });
    case 'createProfile team-unknown':
    case 'updateProfile team-unknown':
      return ask({ body: { ...body, team: 'nothing' } });
    case 'createTeam team-exists':
      return ask({ body: { name: 'research' } });
    case 'deleteTeam team-not-empty':
      return ask({});
    case 'sendToProfile team-has-no-project':
      return ask({ profile: 'Mio' });
    case 'standUpTeam team-has-no-project':
      return ask({ team: 'idle' });
    case 'sendToProfile recipient-unknown':
      return ask({ profile: 'Ren' });
  }
  switch (code) {
    case 'profile-unknown':
      return ask({ profile: 'Nobody' });
    case 'profile-retired':
      return ask({ profile: 'Old' });
    case 'edit-conflict':
      return ask({ body: { ...body, baseVersion: 99 } });
    case 'persona-invalid':
      return ask({ body: { ...body, persona: 'You are {{who}}.' } });
    case 'team-unknown':
      return operation.path.startsWith('/api/teams/') ? ask({ team: 'nothing' }) : undefined;
  }
  return undefined;
}
