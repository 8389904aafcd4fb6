import { existsSync } from 'node:fs';
import { which } from './steps.mjs';

/**
 * The Chromium that tests of the page drive: the machine's own, else Playwright's; undefined where there is none. The one
 * without a window takes half the processor time.
 */
export async function browser() {
  const own = (await which('chromium-headless-shell')) ?? (await which('chromium'));
  if (own) return own;
  // Imported late: requirements are looked at before packages are installed.
  const { chromium } = await import('playwright-core');
  const path = chromium.executablePath();
  return existsSync(path) ? path : undefined;
}
