import { useEffect, useRef } from 'react';

/** Calls back when a key is pressed by itself, and nowhere where it would write something. */
export function useKey(key: string, pressed: () => void, isOn = true): void {
  const latest = useRef(pressed);
  latest.current = pressed;
  useEffect(() => {
    if (!isOn) return undefined;
    const press = (event: KeyboardEvent) => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const { target } = event;
      if (
        !(target instanceof HTMLElement) ||
        target.closest('input, textarea, select, [contenteditable], [role=dialog]')
      )
        return;
      event.preventDefault();
      latest.current();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [key, isOn]);
}
