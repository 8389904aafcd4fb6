import { jest } from '@jest/globals';
import fc, { caseCount } from '../../support/fast-check.js';

// All cases of a campaign are one test, and FUZZ_CASES may be any number.
jest.setTimeout(24 * 3_600_000);

/** How many cases each campaign has of 50,000. */
export const shares = {
  'api requests': 14_000,
  'api bytes': 2_000,
  'worker listener requests': 4_000,
  'runner listener requests': 6_000,
  'toolhost bytes': 1_500,
  'door requests': 3_000,
  'door bytes': 1_000,
  'door frames': 3_000,
  'shim requests': 1_500,
  'config texts': 5_000,
  'config imports': 1_000,
  'input.json': 2_500,
  'output.json': 2_500,
  endings: 500,
  'workspace manifests': 1_500,
  'mock turns': 1_000,
  captures: 2_700,
  'live captures': 1_600,
  'resumed turns': 65,
  disturbances: 60,
  'applied files': 1_000,
  'killed hunts': 25,
} as const;
export type Campaign = keyof typeof shares;

const total = Object.values(shares).reduce((sum, share) => sum + share, 0);
const allCases = Number(process.env['FUZZ_CASES'] ?? caseCount(5000));
/** A campaign that kills what it disturbs has cases of several kinds. */
const least = 3;

/** How many cases a campaign has in this run: `FUZZ_CASES` is for all campaigns together. */
export const casesOf = (campaign: Campaign): number =>
  Math.max(least, Math.ceil((shares[campaign] * allCases) / total));

const slowMs = 1_000;
const looks = 5;
const shrinkMs = 15_000;

/** The time that this process has computed: what takes place in it is judged by this, however busy the machine is. */
export function computedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/**
 * Runs `judge` on cases, the same ones each time for the same seed; what fails is made smaller and shown together with the
 * seed. A case that takes longer than a second is tried again, for it may be the machine that was slow, and fails when it
 * never takes less.
 *
 * @param options.examples cases that once failed
 * @param options.clock what tells how long a case takes
 */
export async function campaign<Case>(
  name: Campaign,
  cases: fc.Arbitrary<Case>,
  judge: (one: Case) => Promise<void> | void,
  { examples = [], clock = () => performance.now() }: { examples?: readonly Case[]; clock?: () => number } = {},
): Promise<void> {
  let failedAtMs: number | undefined;
  const property = fc.asyncProperty(cases, async (one) => {
    // Made as small as it gets in a while: after that, no smaller one counts.
    if (failedAtMs !== undefined && performance.now() - failedAtMs > shrinkMs) return;
    try {
      await timely(clock, () => judge(one));
    } catch (error) {
      failedAtMs ??= performance.now();
      throw error;
    }
  });
  await fc.assert(property, {
    numRuns: casesOf(name) + examples.length,
    examples: examples.map((example): [Case] => [example]),
  });
}

async function timely(clock: () => number, judge: () => Promise<void> | void): Promise<void> {
  for (let look = 1; ; look += 1) {
    const started = clock();
    await judge();
    const tookMs = clock() - started;
    if (tookMs < slowMs) return;
    if (look === looks) throw new Error(`took ${String(Math.round(tookMs))} ms, and no less before`);
  }
}
