import { useEffect, useRef } from 'react';

/** Calls back when a letter is pressed by itself, where nobody writes and nothing lies over the page. */
export function useHotkey(key: string, pressed: (() => void) | undefined): void {
  const latest = useRef(pressed);
  useEffect(() => {
    latest.current = pressed;
  });
  const isOn = pressed !== undefined;
  useEffect(() => {
    if (!isOn) return undefined;
    const press = (event: KeyboardEvent) => {
      const { target } = event;
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (event.defaultPrevented || !(target instanceof HTMLElement)) return;
      if (target.closest('input, textarea, select, [contenteditable], dialog, [inert]')) return;
      event.preventDefault();
      latest.current?.();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [key, isOn]);
}
