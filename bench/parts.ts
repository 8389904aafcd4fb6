import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import type { Row } from './rows.js';
import type { Results } from './report.js';

/** Measures one part of the benchmark. */
export type Part = () => Promise<Row[]>;

/**
 * Measures one part after the other. One that fails is named, and the others are measured.
 *
 * @param keep is called after each part, so that nothing that was measured is lost
 */
export async function measureParts(
  parts: ReadonlyMap<string, Part>,
  results: Pick<Results, 'rows' | 'failed'>,
  keep: () => Promise<void>,
): Promise<void> {
  for (const [part, measure] of parts) {
    console.log(`${part} ...`);
    try {
      results.rows.push(...(await measure()));
    } catch (error) {
      console.error(`${part} FAILED:`, error);
      results.failed.push({ part, error: messageOf(error) });
    }
    await keep();
  }
}
