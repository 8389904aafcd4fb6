import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { stepAfterEvent, stepAfterFailure } from '@suzumio/core/why/what-helps';
import { failureCodes } from '@suzumio/protocol/failure-codes';

const page = readFileSync(new URL('../docs/why.md', import.meta.url), 'utf8');

/** The rows of the table: its codes, and what helps. */
const rows = [...page.slice(page.indexOf('## After a failure')).matchAll(/^\| (`.*?) +\| (.*?) +\|$/gm)].map(
  ([, codes = '', helps = '']) => ({ codes: [...codes.matchAll(/`([\w-]+)`/g)].map(([, code = '']) => code), helps }),
);

/** What the page says of a code; the last row is about every other one. */
function told(code: string): string {
  const index = rows.findIndex(({ codes }) => codes.includes(code));
  const helps = rows[index]?.helps ?? '`agents retry';
  return helps.startsWith('the same') ? (rows[index - 1]?.helps ?? '') : helps;
}

test.each(Object.keys(failureCodes))('docs/why.md says what helps after %s', (code) => {
  const { next } = stepAfterFailure('PROJECT', 'AGENT', code);
  const isMended = next.startsWith('agents retry') && stepAfterEvent('PROJECT', 'AGENT', code).next.startsWith('why');
  expect(told(code)).toMatch(isMended ? /^mend / : new RegExp(`\`${next.replace(/ PROJECT.*/, '')}`));
});

test('docs/why.md names no failure that there is not', () => {
  expect(rows.flatMap(({ codes }) => codes).filter((code) => !Object.hasOwn(failureCodes, code))).toEqual([]);
});
