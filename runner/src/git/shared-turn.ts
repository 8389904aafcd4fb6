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
}
