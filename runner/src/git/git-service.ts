import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { upstreamRemote, upstreamUrl } from '@suzumio/protocol/repository';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import { sharedRemote, sharedUrl } from '@suzumio/protocol/shared-repository';
import type { Connector } from '../door/connector.js';
import { doorHttp } from '../door/exchange.js';
import { forward } from '../door/forward.js';
import { createLocalServer } from '../door/local-server.js';
import { keptDirectory } from '@suzumio/protocol/kept-path';
import { localProblem, problemAnswer } from '../tools/tool-answer.js';
import { messageOf } from '../turn-failure.js';
import { gitVariable, serviceSocket, serviceTurn, type SharedTurn, type UpstreamOfTurn } from './shared-turn.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Of the door's routes, those of repositories. */
const ownRoute = /^\/git(?:[/?]|$)/;

/** Beside the bundle's entries; Git finds its helper for `suzumio::` there. */
const programs = fileURLToPath(new URL('bin', import.meta.url));

/** Connects the Git of a turn's programs with the repository that the project's agents share, and with that of their clone. */
export interface GitService {
  /** The environment of programs, in which every repository has the remotes `shared` and `upstream`, as far as there are any. */
  readonly env: Environment;
  close(): Promise<void>;
}

/**
 * Serves the repositories' routes of the door on a socket, for the helper that Git starts: it knows no token, and needs no
 * door of its own.
 */
export async function openGitService(
  input: RunnerTurnInput,
  connector: Connector,
  env: Environment,
): Promise<GitService> {
  const { project, agent, turn, token, workspace, shared } = input;
  const directory = await mkdtemp(join(tmpdir(), 'suzumio-git-'));
  const mirror = join(workspace, keptDirectory, 'shared.git');
  const upstream = upstreamOf(input);
  const known: SharedTurn = { project, agent: agent.id, turn: turn.id, mirror, upstream };
  await writeFile(join(directory, serviceTurn), JSON.stringify(known));
  // All answers are passed on, errors included.
  const door = doorHttp(connector, { isTransient: () => false });
  const server = createLocalServer((incoming, response) => {
    if (!ownRoute.test(incoming.url ?? '')) refuse(response, 404, 'not-found', 'expected /git');
    else {
      forward(door, incoming, response, { authorization: `Bearer ${token}` }).catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else refuse(response, 502, 'door-failed', messageOf(error));
      });
    }
  });
  server.listen(join(directory, serviceSocket));
  await once(server, 'listening');
  return {
    env: {
      ...env,
      PATH: [programs, env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin'].join(delimiter),
      [gitVariable]: directory,
      ...configIn(env, [...(shared ? sharedConfig : []), ...(upstream ? upstreamConfig : [])]),
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function upstreamOf({ repository, workspace }: RunnerTurnInput): UpstreamOfTurn | undefined {
  if (!repository?.upstream) return undefined;
  const { commit, packs, shallow } = repository.upstream;
  return {
    commit,
    packs,
    shallow,
    mirror: join(workspace, keptDirectory, 'upstream.git'),
    objects: join(workspace, '.git', 'objects'),
    base: repository.base,
  };
}

const sharedConfig = [
  [`remote.${sharedRemote}.url`, sharedUrl],
  [`remote.${sharedRemote}.fetch`, `+refs/heads/*:refs/remotes/${sharedRemote}/*`],
  // A plain "git push" goes there, to a branch of the same name, from which "git pull" comes.
  ['remote.pushDefault', sharedRemote],
  ['push.default', 'current'],
  ['push.autoSetupRemote', 'true'],
] as const;

const upstreamConfig = [
  [`remote.${upstreamRemote}.url`, upstreamUrl],
  [`remote.${upstreamRemote}.fetch`, `+refs/heads/*:refs/remotes/${upstreamRemote}/*`],
] as const;

/** Remotes as configuration in the environment: they hold in every repository, and nothing is written into any. */
function configIn(
  env: Environment,
  settings: readonly (readonly [key: string, value: string])[],
): Record<string, string> {
  const before = Number(env['GIT_CONFIG_COUNT'] ?? 0);
  const variables = settings.flatMap(([key, value], index): [string, string][] => [
    [`GIT_CONFIG_KEY_${String(before + index)}`, key],
    [`GIT_CONFIG_VALUE_${String(before + index)}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(before + settings.length), ...Object.fromEntries(variables) };
}

function refuse(response: ServerResponse, status: number, code: string, detail: string): void {
  const { contentType, body } = problemAnswer(localProblem(status, code, detail));
  response.writeHead(status, { 'content-type': contentType, 'content-length': body.length });
  response.end(body);
}
