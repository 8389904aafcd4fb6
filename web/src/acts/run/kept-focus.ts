import { type FocusEvent, type RefObject, useLayoutEffect, useRef } from 'react';

/**
 * Keeps the focus in a place from which what had it was taken away, as a button is after its act.
 *
 * @returns what the place has to be told
 */
export function useKeptFocus(place: RefObject<HTMLElement | null>) {
  const isInside = useRef(false);
  useLayoutEffect(() => {
    if (!isInside.current || document.activeElement !== document.body) return;
    const next = place.current?.querySelector<HTMLElement>('[data-next], input, button, summary, a[href]');
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
