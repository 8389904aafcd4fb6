import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ProfileView } from '@suzumio/contract/model/profile';
import type { profiles } from '@suzumio/contract/operations/profiles';
import { refuseRetired } from '@suzumio/store/cell/profiles';
import type { Tx } from '@suzumio/store/sqlite/tx';
import { commitOnce } from '../commit-once.js';
import { withProject } from '../project-access.js';
import type { Runs } from '../routes.js';
import { postFromUser } from './mail.js';

export const profileRuns: Runs<typeof profiles> = {
  listProfiles: ({ context, query }) => context.cell.catalog.profiles.list(query),

  async createProfile(call) {
    const profile = await call.context.cell.catalog.profiles.create(call.body, call.key);
    call.locate(`/api/profiles/${profile.id}`);
    return { profile };
  },

  getProfile: ({ context, params }) => ({ profile: context.cell.catalog.profiles.get(params.profile) }),

  updateProfile: async ({ context, params, body: { baseVersion: base, ...change }, actor, key }) => ({
    profile: await context.cell.catalog.profiles.update(params.profile, { ...change, base, actor }, key),
  }),

  retireProfile: async ({ context, params, key }) => ({
    profile: await context.cell.catalog.profiles.retire(params.profile, key),
  }),

  async sendToProfile(call) {
    const { context, response, body } = call;
    const { profiles, teams } = context.cell.catalog;
    const profile = profiles.get(call.params.profile);
    refuseRetired(profile);
    const project = (profile.team === null ? null : teams.get(profile.team).project) ?? noProject(profile);
    const { key } = call;
    const { answer } = await withProject(context, response, project, (store) =>
      commitOnce(store, key, (tx) => {
        const recipient = agentOf(tx, profile, project);
        return { ...postFromUser(tx, { ...body, recipient }, call.actor), project };
      }),
    );
    context.transport.wake(project);
    return answer;
  },
};

/** The agent that started from a profile. */
function agentOf(tx: Tx, { id, nickname, team }: ProfileView, project: string): string {
  const agent = tx.get<{ id: string }>('SELECT id FROM agents WHERE profile_id = :id AND retired_version IS NULL', {
    id,
  });
  if (agent) return agent.id;
  throw new SuzumioError(
    'recipient-unknown',
    `${nickname} is not in ${project}: the file of that project brings ${nickname} there (suzumio teams up ${String(team)} --from FILE).`,
    { recipient: nickname },
  );
}

function noProject({ nickname, team }: ProfileView): never {
  throw new SuzumioError(
    'team-has-no-project',
    team === null
      ? `${nickname} is in no team, so there is no project for mail outside of those that ${nickname} works in.`
      : `The team ${team} of ${nickname} has no standing project for such mail; make one: suzumio teams up ${team} --from FILE.`,
    { profile: nickname },
  );
}
