import { useLocation } from 'wouter';
import { useHeld, useKeys } from './keys.js';
import { openDialog } from './run/dialogs.js';
import { KeysHelp } from './run/late.js';

/** Opens the help on keys, with those that hold now. */
export function useKeysHelp(): () => void {
  const held = useHeld();
  return () => openDialog(<KeysHelp held={held} />);
}

/** The keys that hold on every page. The page says what a palette is: it knows of all pages. */
export function useKeysEverywhere(openPalette: () => void): void {
  const [, navigate] = useLocation();
  useKeys({
    goInbox: () => navigate('/'),
    goProjects: () => navigate('/projects'),
    goSystem: () => navigate('/system'),
    palette: openPalette,
    help: useKeysHelp(),
  });
}
