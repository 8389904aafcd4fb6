import type { ServerResponse } from 'node:http';

/**
 * Writes a piece of a long answer, and resolves once there is room for more, or nobody is left to read it. Leaves nothing
 * on the response: a stream writes a great many.
 */
export async function writeInTurn(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed || response.write(text)) return;
  await new Promise<void>((resolve) => {
    const settle = () => {
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.once('drain', settle).once('close', settle);
  });
}
