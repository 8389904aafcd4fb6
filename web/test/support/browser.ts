import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

// Starts: web.

const { browser: findBrowser } = (await import(new URL('../../../scripts/lib/browser.mjs', import.meta.url).href)) as {
  browser: () => Promise<string | undefined>;
};

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** A page of a place that another page of the same person shows is drawn by its process, which has compiled the code. */
const sharing = '--renderer-process-limit=1';
/** What moves without end is drawn sixty times a second, and what fades in has less contrast for a moment. */
const still: BrowserContextOptions = { reducedMotion: 'reduce' };
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const desk = { width: 1440, height: 900 };
export const tablet = { width: 820, height: 1180 };
export const phone = { width: 390, height: 844 };

/** A browser for one suite. */
export interface TestBrowser {
  /**
   * A person's own browser: its cookies are its own. Nothing moves in it, unless that is asked for. A later test gets it
   * with nothing of that person but what it has loaded and compiled of the page. A clock and scripts stay: a test that gives it such
   * closes it, where those after it in its suite would not have the same.
   */
  open(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** A page of it, whose errors fail the test that opened it. */
  page(context: BrowserContext): Promise<Page>;
  /** Errors that a test expects, whenever they come: they are forgotten. */
  expectErrors(pattern: RegExp): void;
}

/**
 * Starts a browser before a suite's tests and ends it after them. No test may leave an error on a console.
 *
 * @param sharesProcesses whether the pages of one person are drawn by one process
 */
export function testBrowser({ sharesProcesses = true } = {}): TestBrowser {
  let browser: Browser;
  let errors: string[] = [];
  let expected: RegExp[] = [];
  /** With what each was opened. */
  const opened = new Map<BrowserContext, string>();
  const left = new Map<string, BrowserContext[]>();
  beforeAll(async () => {
    const executablePath = await findBrowser();
    if (executablePath === undefined) throw new Error('there is no Chromium on this machine');
    browser = await chromium.launch({ executablePath, args: sharesProcesses ? [...flags, sharing] : flags });
  });
  afterEach(async () => {
    const found = errors.filter((error) => !expected.some((pattern) => pattern.test(error)));
    for (const [context, kind] of opened) {
      if (await isForgotten(context)) left.set(kind, [...(left.get(kind) ?? []), context]);
    }
    opened.clear();
    errors = [];
    expected = [];
    expect(found).toEqual([]);
  });
  afterAll(() => browser.close());
  return {
    async open(options = { viewport: desk }) {
      const kind = JSON.stringify(options);
      const context = left.get(kind)?.pop() ?? (await browser.newContext({ ...still, ...options }));
      opened.set(context, kind);
      return context;
    },
    async page(context) {
      const page = await context.newPage();
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) errors.push(`${message.type()}: ${message.text()}`);
      });
      page.on('pageerror', (error) => errors.push(`uncaught: ${error.message}`));
      return page;
    },
    expectErrors(pattern) {
      expected.push(pattern);
    },
  };
}

/**
 * Leaves nothing in a context of what a test did in it but a page at rest, which keeps its process; false where the test
 * has closed it, or has left the place that is tested.
 */
async function isForgotten(context: BrowserContext): Promise<boolean> {
  const [page, ...others] = context.pages();
  if (page === undefined) return false;
  for (const other of others) await other.close();
  const rest = URL.parse('/icon.svg', page.url())?.href;
  const isAtRest = rest !== undefined && (await page.goto(rest).catch(() => null))?.ok() === true;
  if (!isAtRest) {
    await context.close();
    return false;
  }
  const devtools = await context.newCDPSession(page);
  await devtools.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' });
  await devtools.detach();
  await context.clearCookies();
  return true;
}

/** Goes to another address of the page that is open as its links do, without loading it again. */
export async function go(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
}

/** What axe finds wrong with a page, in light and then in dark, a line each. */
export async function violations(page: Page): Promise<string[]> {
  const found = await violationsNow(page);
  // What came meanwhile may have been drawn by half.
  return found.length === 0 ? found : violationsNow(page);
}

/** Dark differs from light in colours and in nothing else, as themes.test.ts shows. */
const rulesOfColours = ['color-contrast', 'link-in-text-block'];

async function violationsNow(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await violationsAsShown(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await violationsAsShown(page, rulesOfColours);
  await page.emulateMedia({ colorScheme: 'light' });
  return [...light, ...dark.map((line) => `in dark, ${line}`)];
}

async function violationsAsShown(page: Page, runOnly?: string[]): Promise<string[]> {
  const isLoaded = await page.evaluate<boolean>(`'axe' in window`);
  // Most of what axe takes is naming what is fine, and reading style sheets for a rule that is off.
  const options = { resultTypes: ['violations'], selectors: false, preload: { assets: ['media'] }, runOnly };
  const run = `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`;
  const found = await page.evaluate<AxeViolation[]>(isLoaded ? run : `${axe}; ${run}`);
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(said).join(' | ')}`);
}

const said = ({ html, any }: AxeNode) => [html.slice(0, 200), ...any.map(({ message }) => message)].join(': ');

interface AxeViolation {
  id: string;
  nodes: AxeNode[];
}

interface AxeNode {
  html: string;
  any: { message: string }[];
}
