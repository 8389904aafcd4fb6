import { emptyRequest } from '@suzumio/contract/operations/request';
import type { teams } from '@suzumio/contract/operations/teams';
import { parse } from '@suzumio/runtime/http/validate';
import { bodyOf } from '../call.js';
import type { Runs } from '../routes.js';

export const teamRuns: Runs<typeof teams> = {
  listTeams: ({ context, query }) => context.cell.catalog.teams.list(query),

  async createTeam(call) {
    const team = await call.context.cell.catalog.teams.create(call.body, call.key);
    call.locate(`/api/teams/${team.name}`);
    return { team };
  },

  getTeam: ({ context, params }) => ({ team: context.cell.catalog.teams.get(params.team) }),

  updateTeam: async ({ context, params, body, key }) => ({
    team: await context.cell.catalog.teams.update(params.team, body, key),
  }),

  async deleteTeam({ context, params: { team }, request }) {
    parse(emptyRequest, bodyOf(request), 'body');
    await context.cell.catalog.teams.delete(team);
    return { name: team };
  },

  /** Parsing files takes long to load: reading does without. */
  standUpTeam: async (call) => (await import('./stand-up-team.js')).standUpTeam(call),
};
