import { useEffect } from 'react';

/** What the page is, and how much waits for the person. */
const shown = { words: '', waiting: 0 };

/** Says in the title of the tab what the page is; undefined leaves what was said. */
export function useTitle(words: string | undefined): void {
  useEffect(() => {
    if (words === undefined) return;
    shown.words = words;
    show();
  }, [words]);
}

/** Says in the title of the tab, whatever page it is, how much waits for the person. */
export function useWaitingInTitle(waiting: number): void {
  useEffect(() => {
    shown.waiting = waiting;
    show();
    return () => {
      shown.waiting = 0;
      show();
    };
  }, [waiting]);
}

function show(): void {
  const count = shown.waiting > 0 ? `(${shown.waiting}) ` : '';
  document.title = count + (shown.words === '' ? 'Suzumio' : `${shown.words} · Suzumio`);
}
