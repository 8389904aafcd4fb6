import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';

/** What was paid for is kept: a busy store is no reason to lose it. */
export async function insist<Result>(write: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!isSuzumioError(error, 'store-busy') || attempt === 10) throw error;
    }
  }
}
