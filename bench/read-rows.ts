import { readFile } from 'node:fs/promises';
import type { Row } from './rows.js';

/** The rows of an earlier run. */
export async function readRows(file: string): Promise<Row[]> {
  const { rows } = JSON.parse(await readFile(file, 'utf8')) as { rows?: Row[] };
  if (!Array.isArray(rows)) throw new Error(`${file} has no rows: it was not written by this version of the benchmark`);
  return rows;
}
