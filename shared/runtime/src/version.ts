import { readFileSync } from 'node:fs';
import * as z from 'zod';

/** The version of this program. Its `package.json` is one directory above, in a bundle, too. */
export const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')));
