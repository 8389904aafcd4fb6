import express, { type Router } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { emptyRequest, noQuery } from '@suzumio/contract/model/http-api';
import {
  createProfileRequest,
  type ProfileAnswer,
  type ProfileListAnswer,
  type ProfileMessageAnswer,
  profileMessageRequest,
  profilesQuery,
  updateProfileRequest,
} from '@suzumio/contract/model/profile-api';
import type { ProfileView } from '@suzumio/contract/model/profile';
import { refuseRetired } from '@suzumio/store/cell/profiles';
import type { Tx } from '@suzumio/store/sqlite/tx';
import { identityOf, wholeCellOnly } from './auth.js';
import { bodyOf, queryOf } from './body.js';
import { commitOnce, keyOf } from './commit-once.js';
import type { ApiContext } from './context.js';
import { postFromUser, readMail } from './message-request.js';
import { partOf } from './named-list.js';
import { withProject } from './project-access.js';

/** Identities that outlive projects, and mail to them wherever they are. */
export function profilesRouter(context: ApiContext): Router {
  const { profiles, teams } = context.cell.catalog;
  const router = express.Router();
  router.use('/api/profiles', wholeCellOnly);

  router.get('/api/profiles', (request, response) => {
    const { limit, ...which } = queryOf(request, profilesQuery);
    const listed = profiles.list({ ...which, limit: limit + 1 });
    response.json(partOf(listed, limit, ({ nickname }) => nickname) satisfies ProfileListAnswer);
  });

  router.post('/api/profiles', async (request, response) => {
    const profile = await profiles.create(bodyOf(request, createProfileRequest), keyOf(request, response));
    response
      .status(201)
      .location(`${context.publicPath}/api/profiles/${profile.id}`)
      .json({ profile } satisfies ProfileAnswer);
  });

  router.get('/api/profiles/:profile', (request, response) => {
    queryOf(request, noQuery);
    response.json({ profile: profiles.get(request.params.profile) } satisfies ProfileAnswer);
  });

  router.post('/api/profiles/:profile', async (request, response) => {
    const change = bodyOf(request, updateProfileRequest);
    const profile = await profiles.update(request.params.profile, change, keyOf(request, response));
    response.json({ profile } satisfies ProfileAnswer);
  });

  router.post('/api/profiles/:profile/retire', async (request, response) => {
    bodyOf(request, emptyRequest);
    const profile = await profiles.retire(request.params.profile, keyOf(request, response));
    response.json({ profile } satisfies ProfileAnswer);
  });

  router.post('/api/profiles/:profile/messages', async (request, response) => {
    const message = readMail(profileMessageRequest, request.body ?? {});
    const profile = profiles.get(request.params.profile);
    refuseRetired(profile);
    const project = (profile.team === null ? null : teams.get(profile.team).project) ?? noProject(profile);
    const actor = identityOf(response).name;
    const key = keyOf(request, response);
    const { answer } = await withProject(context, response, project, (store) =>
      commitOnce(store, key, (tx): ProfileMessageAnswer => {
        const recipient = agentOf(tx, profile, project);
        return { ...postFromUser(tx, { ...message, recipient }, actor), project };
      }),
    );
    context.transport.wake(project);
    response.status(201).json(answer);
  });
  return router;
}

/** The agent that started from a profile. */
function agentOf(tx: Tx, { id, nickname, team }: ProfileView, project: string): string {
  const agent = tx.get<{ id: string }>('SELECT id FROM agents WHERE profile_id = :id', { id });
  if (agent) return agent.id;
  throw new SuzumioError(
    'recipient-unknown',
    `${nickname} is not in ${project}, which was made before ${nickname} came to the team ${String(team)}.`,
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
