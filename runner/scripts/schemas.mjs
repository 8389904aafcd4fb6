// Writes the JSON Schemas of the runner's contract to docs/schemas, from the zod schemas that both sides parse with.
// `npm run schemas --workspace runner` after a change of the contract; a test fails where it was forgotten.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { contractSchemas } from '../dist/contract-schemas.js';

for (const [name, schema] of Object.entries(contractSchemas())) {
  const path = fileURLToPath(new URL(`../../docs/schemas/${name}.json`, import.meta.url));
  const options = { ...(await resolveConfig(path)), filepath: path };
  await writeFile(path, await format(JSON.stringify(schema), options));
}
