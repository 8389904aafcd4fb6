import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';

/** Streams a file. A client that leaves in the middle is no failure of ours. */
export async function sendFile(response: Response, content: Readable): Promise<void> {
  try {
    await pipeline(content, response);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}
