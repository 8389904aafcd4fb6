import type { Response } from 'express';
import type { ApiTokens } from '@suzumio/store/cell/api-tokens';
import { identityOf, tokenEnded } from './auth.js';

const lookEveryMs = 1_000;

/** Long-running answers, which end when the token that they are sent for does. */
export class OpenAccess {
  readonly #open = new Map<AbortController, string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly tokens: ApiTokens) {}

  /** Aborted soon after the token of a request is revoked or expires; its reason is the error to answer with. */
  of(response: Response): AbortSignal {
    const access = new AbortController();
    const { tokenId } = identityOf(response);
    if (tokenId !== null && !response.closed) {
      this.#open.set(access, tokenId);
      this.#timer ??= setInterval(() => this.#look(), lookEveryMs);
      response.once('close', () => this.#forget(access));
    }
    return access.signal;
  }

  #look(): void {
    const good = new Map([...new Set(this.#open.values())].map((id) => [id, this.tokens.stillGood(id)]));
    for (const [access, tokenId] of this.#open) {
      if (good.get(tokenId)) continue;
      this.#forget(access);
      access.abort(tokenEnded());
    }
  }

  #forget(access: AbortController): void {
    this.#open.delete(access);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
