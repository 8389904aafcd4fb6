// Writes the API's description to docs/openapi.json, from the operations that its routes are made of, and says what
// breaks for clients of the last release. `npm run openapi --workspace @suzumio/api` after a change of the API; a test
// fails where it was forgotten. A release writes docs/openapi.released.json as well: `-- --release`.
import process from 'node:process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format } from 'oxfmt';
import { breakingChanges } from '../dist/openapi/breaking-changes.js';
import { openApiDocument } from '../dist/openapi/document.js';

const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
const document = openApiDocument(version);
const docs = (name) => fileURLToPath(new URL(`../../../docs/${name}`, import.meta.url));
const released = docs('openapi.released.json');
for (const change of breakingChanges(JSON.parse(await readFile(released, 'utf8')), document)) {
  console.log(`breaks: ${change}`);
}
for (const path of [docs('openapi.json'), ...(process.argv.includes('--release') ? [released] : [])]) {
  const { code } = await format(path, JSON.stringify(document), { printWidth: 120 });
  await writeFile(path, code);
}
