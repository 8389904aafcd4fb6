import { useSyncExternalStore } from 'react';

const narrow = window.matchMedia('(max-width: 900px)');

/** Whether panes stand behind tabs, since there is no room beside each other. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (changed) => {
      narrow.addEventListener('change', changed);
      return () => narrow.removeEventListener('change', changed);
    },
    () => narrow.matches,
  );
}
