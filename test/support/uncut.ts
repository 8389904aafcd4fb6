import { Server } from 'node:http';
import { jest } from '@jest/globals';

/**
 * Runs what stops a server, and lets it cut no connection meanwhile. A stop that its bound would have to end does not
 * end then, however fast the machine is.
 */
export async function uncut(stop: () => Promise<unknown>): Promise<void> {
  const cut = jest.spyOn(Server.prototype, 'closeAllConnections').mockReturnValue(undefined);
  try {
    await stop();
  } finally {
    cut.mockRestore();
  }
}
