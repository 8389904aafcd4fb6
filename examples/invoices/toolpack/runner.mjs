import { readFile, realpath } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import settings from './settings.mjs';

export function createRunnerToolpack({ workspace, callSupport }) {
  return {
    tools: {
      // The input comes from a model: nothing has checked it.
      'invoices.check': async ({ file }) => {
        const lines = (await readInside(workspace, file)).trim().split('\n');
        const items = lines.map((line, index) => itemOf(line, `${file}:${index + 1}`));
        const cents = items.reduce((sum, item) => sum + item.cents, 0);
        return { output: { items, cents, currency: settings.currency }, title: file, metadata: { cents } };
      },
      'invoices.number': (input) => callSupport('invoices.number', input),
    },
  };
}

async function readInside(workspace, file) {
  if (typeof file !== 'string' || file === '') throw new Error('file: expected a path in the workspace');
  const root = await realpath(workspace);
  const path = await realpath(resolve(root, file)).catch(() => undefined);
  if (path === undefined) throw new Error(`file: there is no ${file} in the workspace`);
  if (!path.startsWith(root + sep)) throw new Error(`file: ${file} leads out of the workspace`);
  return readFile(path, 'utf8');
}

function itemOf(line, at) {
  const [item, quantity, price] = line.split(',');
  const cents = Number(quantity) * Math.round(Number(price) * 100);
  if (!item || !Number.isSafeInteger(cents)) throw new Error(`${at}: expected item,quantity,price, got ${line}`);
  return { item, cents };
}
