import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { sandboxTools } from '@suzumio/protocol/sandbox-tools/catalogue';
import { sandboxRefusalCodes } from '@suzumio/protocol/sandbox-tools/refusals';

const page = readFileSync(new URL('../docs/tools.md', import.meta.url), 'utf8');
const rowOf = (tool: string) => page.split('\n').find((line) => line.startsWith(`| \`${tool}\``)) ?? '';

test.each(Object.values(sandboxTools))('the page on tools has $name, with what it is given', ({ name, definition }) => {
  const inputs = Object.keys(definition.inputSchema['properties'] as object);
  expect(inputs.filter((input) => !rowOf(name).includes(`\`${input}\``))).toEqual(
    // Like the others of their kind.
    name === 'file.search' ? ['maxBytes'] : [],
  );
});

test('the page on tools has every code', () => {
  expect(sandboxRefusalCodes.filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});
