import { readFileSync } from 'node:fs';

/** The settings of both modules: a file of the toolpack, beside this one. */
const settings = JSON.parse(readFileSync(new URL('settings.json', import.meta.url), 'utf8'));

const kinds = { prefix: 'string', first: 'number', currency: 'string', largestCents: 'number' };
for (const [name, kind] of Object.entries(kinds)) {
  if (typeof settings[name] !== kind) throw new Error(`settings.json: ${name}: expected a ${kind}`);
}

export default settings;
