import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { contractSchemas } from '@suzumio/runner/contract-schemas';

const directory = new URL('../../docs/schemas/', import.meta.url);

test('the checked-in JSON Schemas are those of the code (npm run schemas --workspace runner)', async () => {
  const schemas = contractSchemas();
  expect((await readdir(directory)).sort()).toEqual(
    Object.keys(schemas)
      .map((name) => `${name}.json`)
      .sort(),
  );
  for (const [name, schema] of Object.entries(schemas)) {
    expect(JSON.parse(await readFile(new URL(`${name}.json`, directory), 'utf8'))).toEqual(
      JSON.parse(JSON.stringify(schema)),
    );
  }
});
