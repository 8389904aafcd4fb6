import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { emptyRequest } from '@suzumio/contract/operations/request';
import type { teams } from '@suzumio/contract/operations/teams';
import { parse } from '@suzumio/runtime/http/validate';
import { differencesOf } from '@suzumio/store/cell/standing-project';
import { bodyOf } from '../call.js';
import type { Runs } from '../routes.js';

export const teamRuns: Runs<typeof teams> = {
  listTeams: ({ context, query }) => context.cell.catalog.teams.list(query),

  async createTeam(call) {
    const team = await call.context.cell.catalog.teams.create(call.body, call.key);
    call.locate(`/api/teams/${team.name}`);
    return { team };
  },

  async getTeam({ context: { cell }, params }) {
    const team = cell.catalog.teams.get(params.team);
    if (team.project === null) return { team, differences: null };
    const differences = await cell.stores
      .use(team.project, ({ reader }) => differencesOf(cell.catalog, team.name, reader))
      .catch((error: unknown) => {
        // It may have been deleted since, or be broken: the team is told all the same.
        if (isSuzumioError(error)) return null;
        throw error;
      });
    return { team, differences };
  },

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
