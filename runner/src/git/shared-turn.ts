import type { Upstream } from '@suzumio/protocol/repository';

/** Names the directory with the service's socket, for the helper that Git starts. */
export const gitVariable = 'SUZUMIO_GIT';

/** In that directory. */
export const serviceSocket = 'door.sock';
export const serviceTurn = 'turn.json';

/** What the helper is told of its turn. */
export interface SharedTurn {
  readonly project: string;
  readonly agent: string;
  readonly turn: string;
  /** Where the shared repository is, as far as this turn has fetched it: a bare repository that may be deleted. */
  readonly mirror: string;
  /** Of the repository that the workspace was cloned from. */
  readonly upstream?: UpstreamOfTurn | undefined;
}

/** What of that repository this turn has, and where it puts it. */
export interface UpstreamOfTurn extends Pick<Upstream, 'commit' | 'packs' | 'shallow'> {
  /** A bare repository that may be deleted. */
  readonly mirror: string;
  /** The clone's own objects, which the packs build on. */
  readonly objects: string;
  /** The commit that the clone began at. */
  readonly base: string;
}
