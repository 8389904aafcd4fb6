import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/** Has what each sender asks for answered one after the other: nobody takes more than one place at a time. */
export class OneAfterAnother {
  readonly #lines = new Map<string, { last: Promise<unknown>; length: number }>();

  /** @param most how many of one sender may wait or run */
  constructor(private readonly most: number) {}

  /** @throws SuzumioError `rate-limited` where too many of this sender wait; what `body` throws */
  async run<Result>(sender: string, body: () => Promise<Result>): Promise<Result> {
    const line = this.#lines.get(sender) ?? { last: Promise.resolve(), length: 0 };
    if (line.length >= this.most) {
      throw new SuzumioError('rate-limited', `${this.most} such requests of this token wait already.`, {
        retryAfterSeconds: 1,
      });
    }
    line.length += 1;
    this.#lines.set(sender, line);
    const own = line.last.then(body, body);
    line.last = own.catch(() => undefined);
    try {
      return await own;
    } finally {
      line.length -= 1;
      if (line.length === 0) this.#lines.delete(sender);
    }
  }
}
