import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Codes of a disconnected client: before the file was begun, while it was written, and while nothing was. */
const leaving = new Set(['ERR_STREAM_UNABLE_TO_PIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'EPIPE', 'ECONNRESET']);

/** Streams a file, and always closes it. A client that disconnects is no error; a failure of `content` is one. */
export async function sendFile(response: ServerResponse, content: Readable): Promise<void> {
  try {
    await pipeline(content, response);
  } catch (error) {
    if (!leaving.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    content.destroy();
  }
}
