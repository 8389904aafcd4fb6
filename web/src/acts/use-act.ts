import { allows, type Client } from '@suzumio/sdk/client';
import { type QueryKey, useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { queries } from '../api.js';
import { useWho } from '../who.js';

/** Whether who is signed in may do something: acts that they may not are not shown. */
export function useMay(): (operation: keyof Client) => boolean {
  const { scope } = useWho();
  return (operation) => allows(scope, operation);
}

/** How often the same is asked for, with the same key: it takes effect once. */
export interface ActOptions {
  readonly idempotencyKey: string;
}

/**
 * Something that the person does. Asked for again with the same input after a failure, it takes effect once. What
 * went wrong stays in `error` until the next try; what is shown of `changes` is read again whether it went well or not,
 * because somebody else may have done it meanwhile.
 *
 * @param run asks the server, with the options that make a second request harmless. Its input is plain data
 * @param changes the keys of what it changes
 */
export function useAct<Input, Answer>(
  run: (input: Input, options: ActOptions) => Promise<Answer>,
  changes: readonly QueryKey[],
) {
  const tried = useRef({ input: '', idempotencyKey: '' });
  return useMutation<Answer, Error, Input>({
    mutationFn: (input) => {
      const same = JSON.stringify(input);
      if (tried.current.input !== same) tried.current = { input: same, idempotencyKey: newKey() };
      return run(input, { idempotencyKey: tried.current.idempotencyKey });
    },
    onSuccess: () => {
      // The same once more is a new act.
      tried.current = { input: '', idempotencyKey: '' };
    },
    onSettled: () => {
      for (const queryKey of changes) queries.invalidateQueries({ queryKey }).catch(() => undefined);
    },
  });
}

/** A name that nobody else has taken. `randomUUID` is missing where the page was not loaded safely. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-');
}
