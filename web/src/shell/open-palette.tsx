import { openDialog } from '../acts/run/dialogs.js';
import { Palette } from './palette/palette.js';

/** Opens the palette, unless something else is asked over the page. */
export function openPalette(): void {
  if (document.querySelector('dialog[open]') === null) openDialog(<Palette />);
}
