import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The cells of each row of the table below a heading of docs/coming-from-suzumio.md. */
export function publishedTable(heading: string): string[][] {
  const page = readFileSync(join(import.meta.dirname, '../../docs/coming-from-suzumio.md'), 'utf8');
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  return own
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
}
