import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import settings from './settings.mjs';

export function createControllerToolpack({ store, agent }) {
  const file = join(store.paths.root, 'numbers.json');
  return {
    tools: {
      // One call follows another, so that no number is given twice.
      'invoices.number': ({ reference, cents }) => {
        if (typeof reference !== 'string' || reference === '') throw new Error('reference: expected a text');
        if (!Number.isSafeInteger(cents) || cents < 1) throw new Error('cents: expected a whole number above 0');
        if (cents > settings.largestCents) {
          throw new Error(`cents: expected at most ${settings.largestCents}; a person numbers larger invoices`);
        }
        const given = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
        const known = given.find((invoice) => invoice.reference === reference);
        if (known && known.cents !== cents) {
          throw new Error(`${reference} is ${known.number} already, of ${known.cents} cents`);
        }
        if (known) return { output: known.number, metadata: known };
        const number = `${settings.prefix}${settings.first + given.length}`;
        const invoice = { number, reference, cents, by: agent.id };
        // A call may be ended at any time: the file is whole before and after.
        writeFileSync(`${file}.new`, JSON.stringify([...given, invoice]));
        renameSync(`${file}.new`, file);
        return { output: number, metadata: invoice };
      },
    },
  };
}
