import { readFileSync } from 'node:fs';
import * as z from 'zod';

/**
 * The version of this program, and the commit that it was built from, where that is known. Its `package.json` is one directory
 * above, in a bundle, too.
 */
export const { version, commit } = z
  .object({ version: z.string(), commit: z.string().optional() })
  .parse(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')));
