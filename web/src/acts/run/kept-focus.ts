import { type FocusEvent, type RefObject, useLayoutEffect, useRef } from 'react';

/**
 * Keeps the focus in a place from which what had it was taken away, as a button is after its act. What comes next may come later:
 * the place itself has the focus meanwhile.
 *
 * @returns what the place has to be told
 */
export function useKeptFocus(place: RefObject<HTMLElement | null>) {
  const isInside = useRef(false);
  /** Whether the place has the focus for what comes next. */
  const holds = useRef(false);
  useLayoutEffect(() => {
    const isLost = document.activeElement === document.body;
    const isWaiting = holds.current && document.activeElement === place.current;
    if (!isInside.current || !(isLost || isWaiting)) return;
    const next = place.current?.querySelector<HTMLElement>('[data-next], input, button, summary, a[href]');
    holds.current = next === null || next === undefined;
    (next ?? place.current)?.focus();
  });
  return {
    onFocus: () => {
      isInside.current = true;
    },
    onBlur: ({ target, relatedTarget }: FocusEvent) => {
      if (target.isConnected && !place.current?.contains(relatedTarget)) isInside.current = false;
    },
  };
}
