import type { Response } from 'express';
import type { ApiTokens } from '@suzumio/store/cell/api-tokens';
import { identityOf, tokenEnded } from './auth.js';

const lookEveryMs = 1_000;

/** Long-running answers, which end when the token that they are sent for does. */
export class OpenAccess {
  readonly #open = new Map<AbortController, { tokenId: string; sessionId: string | null }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly tokens: ApiTokens) {}

  /** Aborted soon after the token of a request, or its session, has ended; its reason is the error to answer with. */
  of(response: Response): AbortSignal {
    const access = new AbortController();
    const { tokenId, sessionId } = identityOf(response);
    if (tokenId !== null && !response.closed) {
      this.#open.set(access, { tokenId, sessionId });
      this.#timer ??= setInterval(() => this.#look(), lookEveryMs);
      response.once('close', () => this.#forget(access));
    }
    return access.signal;
  }

  #look(): void {
    const looked = new Map<string, boolean>();
    for (const [access, { tokenId, sessionId }] of this.#open) {
      const key = `${tokenId} ${sessionId ?? ''}`;
      const good = looked.get(key) ?? this.tokens.stillGood(tokenId, sessionId);
      looked.set(key, good);
      if (good) continue;
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
