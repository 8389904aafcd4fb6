import { Fragment, type ReactElement, useLayoutEffect, useSyncExternalStore } from 'react';
import { useLocation } from 'wouter';

let shown: ReactElement | undefined;
let opened = 0;
const watching = new Set<() => void>();

function show(dialog: ReactElement | undefined): void {
  shown = dialog;
  for (const changed of watching) changed();
}

/** Opens a dialog over the page. It stays when what opened it goes: somebody else may be faster. */
export function openDialog(dialog: ReactElement): void {
  opened += 1;
  // The browser tells later that one before was closed, which is not to close this one, even where they are alike.
  show(<Fragment key={opened}>{dialog}</Fragment>);
}

/** Takes the dialog away; the focus is where it was, or else in the page. */
export function closeDialog(): void {
  show(undefined);
  setTimeout(() => {
    if (document.activeElement === document.body) document.getElementById('content')?.focus();
  });
}

/** The dialog that is open. Another address closes it. */
export function Dialogs() {
  const dialog = useSyncExternalStore(
    (changed) => {
      watching.add(changed);
      return () => watching.delete(changed);
    },
    () => shown,
  );
  const [place] = useLocation();
  useLayoutEffect(() => () => show(undefined), [place]);
  return dialog ?? null;
}
