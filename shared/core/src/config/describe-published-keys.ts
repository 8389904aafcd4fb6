import type { Meaning } from './published-key.js';
import { publishedKeys } from './published-keys.js';

/** A row of the table of keys, in Markdown. */
export interface KeyRow {
  readonly key: string;
  readonly meaning: Meaning;
  readonly here: string;
}

/** What each key of the published format is here, by the order of the file. */
export function describePublishedKeys(): KeyRow[] {
  return publishedKeys
    .filter(({ path }) => path !== '')
    .map(({ path, values, meaning, here }) => ({
      key: values === undefined ? `\`${path}\`` : `\`${path}\`, ${values}`,
      meaning,
      here,
    }));
}
