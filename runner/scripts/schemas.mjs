// Writes the JSON Schemas of the runner's contract to docs/schemas, from the zod schemas that both sides parse with.
// `npm run schemas --workspace runner` after a change of the contract; a test fails where it was forgotten.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format } from 'oxfmt';
import { contractSchemas } from '../dist/contract-schemas.js';

for (const [name, schema] of Object.entries(contractSchemas())) {
  const path = fileURLToPath(new URL(`../../docs/schemas/${name}.json`, import.meta.url));
  const { code } = await format(path, JSON.stringify(schema), { printWidth: 120 });
  await writeFile(path, code);
}
