import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core';
import type { Stack } from '../test/support/stack.js';
import { BenchProject } from './bench-project.js';
import { Followers, HttpLoad } from './http-load.js';
import { quantile, type Spread, spread } from './statistics.js';

export interface WebPlan {
  messages: number;
  agents: number;
  /** How often each agent of a pair is answered. */
  hops: number;
  /** How often the page is opened by a browser that has nothing of it. */
  views: number;
  /** Messages, one at a time, each of which comes to the screen. */
  events: number;
  /** How long events go on while the page's memory is watched. */
  memoryMs: number;
}

export interface WebFigures {
  /** From the navigation to the first rows that can be clicked. */
  viewMs: Spread;
  /** The scripts of the first view, compressed. */
  scriptBytes: number;
  /** From a message's commit to the screen; the floor is its event's arrival at a follower without a page. */
  eventMs: Spread;
  floorMs: Spread;
  eventP95Ms: number;
  floorP95Ms: number;
  /** By place: the longest task while a page was scrolled by a processor six times slower, and the most nodes. */
  places: { place: string; longestTaskMs: number; nodes: number }[];
  /** The page's memory at the beginning and at the end of a stream of events. */
  memoryMiB: { first: number; last: number };
}

const slowness = 6;
const viewport = { width: 1440, height: 900 };
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const busy = 'bench-web';
const quiet = 'bench-web-quiet';
const body = (number: number) => `## Note ${number}\n\nThe north gauge: **3.2 m**.\n\n- one\n- two\n\n\`water.csv\``;
const patienceMs = 60_000;

/** Programs for the page, where there are other names than here. */
const inPage = {
  firstRow: `new Promise((resolve) => {
    const look = () => {
      if (document.querySelector('a[href$="/p/${busy}"]')) resolve(performance.now());
      else requestAnimationFrame(look);
    };
    look();
  })`,
  scripts: `performance.getEntriesByType('resource').map(({ name }) => name)
    .filter((name) => new URL(name).pathname.endsWith('.js'))`,
  /** Writes down when each message came to the screen. */
  watch: `globalThis.seen = new Map();
    new MutationObserver(() => {
      for (const [text] of document.body.innerText.matchAll(/Event number \\d+\\./g)) {
        if (!seen.has(text)) seen.set(text, performance.timeOrigin + performance.now());
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });`,
  /** From the top to the bottom and back, a screen at a time. The browser tells of tasks over 50 ms. */
  scroll: `(async () => {
    const tasks = [0];
    const watch = new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)));
    watch.observe({ type: 'longtask' });
    const scrollers = [...document.querySelectorAll('*')].filter((element) =>
      element.scrollHeight > element.clientHeight + 50 &&
      (element === document.scrollingElement || /auto|scroll/.test(getComputedStyle(element).overflowY)));
    for (const element of scrollers) {
      for (const sign of [1, -1]) {
        for (let step = 0; step < 60; step += 1) {
          element.scrollBy(0, sign * 700);
          await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 30)));
        }
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
    watch.disconnect();
    return Math.max(...tasks);
  })()`,
};

/** What a person sees of a large project, in a browser. */
export async function measureWeb(stack: Stack, executablePath: string, plan: WebPlan): Promise<WebFigures> {
  const project = await large(stack, plan);
  const small = await BenchProject.make(stack, quiet, ['solo: { role: solo, prompt: Read. }']);
  const browser = await chromium.launch({ executablePath, args: flags });
  try {
    const person = await signIn(stack, browser);
    const { viewMs, scriptBytes } = await firstViews(stack, browser, person, plan.views);
    const context = await browser.newContext({ viewport, storageState: person });
    const page = await context.newPage();
    page.setDefaultTimeout(patienceMs);
    const events = await eventsOnScreen(stack, page, small, plan.events);
    const places = await scrolled(stack, page);
    const memoryMiB = await memory(stack, page, small, plan.memoryMs);
    return { viewMs, scriptBytes, ...events, places, memoryMiB };
  } finally {
    await browser.close();
    project.close();
    small.close();
  }
}

/** Much mail, many turns and many agents. */
async function large(stack: Stack, { messages, agents, hops }: WebPlan): Promise<BenchProject> {
  const pairs = agents / 2;
  const project = await BenchProject.make(
    stack,
    busy,
    ['ping', 'pong'].map((id) => `${id}: { role: ${id}, prompt: Answer., tools: [messages.send], count: ${pairs} }`),
  );
  const load = new HttpLoad(16);
  const numbers = Array.from({ length: messages }).keys();
  const each = async () => {
    for (const number of numbers) {
      await load.burst(project.messages, 1, { recipient: `ping-${1 + (number % pairs)}`, body: body(number) });
    }
  };
  await Promise.all(Array.from({ length: 16 }, each));
  load.close();
  const { status } = await stack.api('POST', `/projects/${busy}/start`);
  if (status !== 200) throw new Error(`the project was not started: ${status}`);
  await project.idle();
  for (let pair = 1; pair <= pairs; pair += 1) await project.post(`ping-${pair}`, String(hops - 1));
  await project.idle();
  return project;
}

type Person = Awaited<ReturnType<Awaited<ReturnType<Browser['newContext']>>['storageState']>>;

async function signIn(stack: Stack, browser: Browser): Promise<Person> {
  const { status, body: link } = await stack.api('POST', '/sign-in-links', {});
  if (status !== 201) throw new Error(`no link was made: ${status}`);
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  await page.goto((link as { url: string }).url);
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  const person = await context.storageState();
  await context.close();
  return person;
}

async function firstViews(stack: Stack, browser: Browser, person: Person, views: number) {
  const took: number[] = [];
  let scripts: string[] = [];
  // The first is the warm-up of the browser and of the API.
  for (let view = 0; view <= views; view += 1) {
    const context = await browser.newContext({ viewport, storageState: person });
    const page = await context.newPage();
    await page.goto(`${stack.url}/projects`, { waitUntil: 'commit' });
    const at = await page.evaluate<number>(inPage.firstRow);
    if (view > 0) took.push(at);
    scripts = await page.evaluate<string[]>(inPage.scripts);
    await context.close();
  }
  const sizes = scripts.map(async (script) => gzipSync(Buffer.from(await (await fetch(script)).arrayBuffer())).length);
  const scriptBytes = (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
  return { viewMs: spread(took), scriptBytes };
}

/** Messages to a project whose mail is on the screen, at moments of their own. */
async function eventsOnScreen(stack: Stack, page: Page, project: BenchProject, events: number) {
  await page.goto(`${stack.url}/p/${quiet}`);
  await page.getByRole('heading', { name: quiet, level: 1 }).waitFor();
  await page.getByText('No mail yet').first().waitFor();
  // The stream is open once a first message came by itself.
  await project.post('solo', 'Event number 0.');
  await page.getByText('Event number 0.').first().waitFor();
  await page.evaluate(inPage.watch);
  const floorMs: number[] = [];
  const follower = await Followers.connect(project.events, 1);
  follower.listen((data) => {
    const { createdAt } = JSON.parse(data) as { createdAt: string };
    floorMs.push(Date.now() - Date.parse(createdAt));
  });
  try {
    for (let number = 1; number <= events; number += 1) {
      await project.post('solo', `Event number ${number}.`);
      await sleep(400 + (number % 7) * 30);
    }
    await page.getByText(`Event number ${events}.`).first().waitFor();
  } finally {
    follower.close();
  }
  const seen = new Map(await page.evaluate<[string, number][]>('[...seen]'));
  const committed = project.rows<{ body: string; at: number }>(
    `SELECT body, created_at_ms AS at FROM messages WHERE body <> 'Event number 0.' ORDER BY seq`,
  );
  const eventMs = committed.map(({ body: text, at }) => (seen.get(text) ?? Number.NaN) - at);
  if (eventMs.some(Number.isNaN)) throw new Error('a message did not come to the screen');
  return {
    eventMs: spread(eventMs),
    floorMs: spread(floorMs),
    eventP95Ms: quantile(eventMs, 0.95),
    floorP95Ms: quantile(floorMs, 0.95),
  };
}

/** The pages that hold most, at their fullest, by a processor that is slow. */
async function scrolled(stack: Stack, page: Page): Promise<WebFigures['places']> {
  const seen: WebFigures['places'] = [];
  for (const [place, path] of Object.entries({
    now: `/p/${busy}`,
    mail: `/p/${busy}/mail`,
    turns: `/p/${busy}/turns`,
    agents: `/p/${busy}/agents`,
    log: `/p/${busy}/log`,
  })) {
    await page.goto(`${stack.url}${path}`);
    await page.getByRole('heading', { name: busy, level: 1 }).waitFor();
    await page.waitForLoadState('load');
    await sleep(1_000);
    await grown(page);
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowness });
    const longestTaskMs = await page.evaluate<number>(inPage.scroll);
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    await devtools.detach();
    seen.push({ place, longestTaskMs, nodes: await page.locator('*').count() });
  }
  return seen;
}

/** Asks for what is older until there is no more of it. */
async function grown(page: Page): Promise<void> {
  const older = page.getByRole('button', { name: /^(Older|Earlier)$/ });
  for (let part = 0; part < 30 && (await older.count()) > 0; part += 1) {
    // It cannot be pressed while what it asked for is on its way.
    await older.first().click();
    await sleep(200);
  }
}

/** Messages go on coming; what the page holds at the end is compared with what it held when it had seen some. */
async function memory(stack: Stack, page: Page, project: BenchProject, ms: number) {
  await page.goto(`${stack.url}/p/${quiet}`);
  await page.getByRole('heading', { name: quiet, level: 1 }).waitFor();
  const devtools = await page.context().newCDPSession(page);
  const until = performance.now() + ms;
  const settled = performance.now() + ms / 5;
  let first: number | undefined;
  for (let number = 0; performance.now() < until; number += 1) {
    await project.post('solo', `Another message, number ${number}.`);
    await sleep(100);
    if (first === undefined && performance.now() > settled) first = await heapMiB(devtools);
  }
  await sleep(1_000);
  return { first: first ?? Number.NaN, last: await heapMiB(devtools) };
}

async function heapMiB(devtools: CDPSession): Promise<number> {
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  return usedSize / 1024 ** 2;
}
