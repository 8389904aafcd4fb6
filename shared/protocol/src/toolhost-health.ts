import * as z from 'zod';

/** The route by which the API asks a ToolHost whether it serves. */
export const toolhostHealthPath = '/health';

export const toolhostHealth = z.object({ version: z.string().max(60) });
