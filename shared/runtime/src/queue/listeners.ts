import type { Logger } from '../observability/logger.js';

/** A set of listeners. An error in one affects neither the others nor the caller. */
export interface Listeners<T> {
  add(listener: (value: T) => void): () => void;
  notify(value: T): void;
}

export function createListeners<T>(logger: Logger): Listeners<T> {
  // Keyed by subscription, so that a function added twice is called twice and removed once.
  const listeners = new Map<symbol, (value: T) => void>();
  return {
    add(listener) {
      const key = Symbol('listener');
      listeners.set(key, listener);
      return () => void listeners.delete(key);
    },
    notify(value) {
      for (const listener of [...listeners.values()]) {
        try {
          listener(value);
        } catch (error) {
          logger.error({ err: error }, 'a listener failed');
        }
      }
    },
  };
}
