import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

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
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const desk = { width: 1440, height: 900 };
export const tablet = { width: 820, height: 1180 };
export const phone = { width: 390, height: 844 };

/** A browser for one suite. */
export interface TestBrowser {
  /** A person's own browser: its cookies are its own. */
  open(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** A page of it, whose errors fail the test that opened it. */
  page(context: BrowserContext): Promise<Page>;
  /** Errors that a test expects, whenever they come: they are forgotten. */
  expectErrors(pattern: RegExp): void;
}

/** Starts a browser before a suite's tests and ends it after them. No test may leave an error on a console. */
export function testBrowser(): TestBrowser {
  let browser: Browser;
  let errors: string[] = [];
  let expected: RegExp[] = [];
  const contexts: BrowserContext[] = [];
  beforeAll(async () => {
    const executablePath = await findBrowser();
    if (executablePath === undefined) throw new Error('there is no Chromium on this machine');
    browser = await chromium.launch({ executablePath, args: flags });
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    const found = errors.filter((error) => !expected.some((pattern) => pattern.test(error)));
    errors = [];
    expected = [];
    expect(found).toEqual([]);
  });
  afterAll(() => browser.close());
  return {
    async open(options = { viewport: desk }) {
      const context = await browser.newContext(options);
      contexts.push(context);
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

/** What axe finds wrong with a page, a line each. */
export async function violations(page: Page): Promise<string[]> {
  const found = await violationsNow(page);
  // What came meanwhile may have been fading in.
  return found.length === 0 ? found : violationsNow(page);
}

async function violationsNow(page: Page): Promise<string[]> {
  // What fades in has less contrast for a moment.
  await page.evaluate(`Promise.all(document.getAnimations()
    .filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime))
    .map(({ finished }) => finished.catch(() => undefined))).then(() => undefined)`);
  const found = await page.evaluate<AxeViolation[]>(`${axe}; axe.run().then(({ violations }) => violations)`);
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
