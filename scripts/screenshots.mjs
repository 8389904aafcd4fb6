// npm run screenshots: pictures of the page for the README, of the demo's own data.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { browser } from './lib/browser.mjs';
import { build } from './lib/checks.mjs';
import { bringImagesUpToDate } from './lib/images.mjs';
import { onProjectNode, root } from './lib/project-node.mjs';
import { provideRequirements } from './lib/requirements.mjs';
import { capture, main, run, step } from './lib/steps.mjs';

const suzumio = join(root, 'cli/bundle/dist/main.js');
const pictures = join(root, 'docs/images');
const desk = { width: 1280, height: 800 };
/** The graph and the stream come to rest. */
const settleMs = 2_000;
/** Seconds for another round of the newsroom. */
const submittedWithin = 120;

/** What is shown: an address, and in which colours. */
const views = [
  { name: 'project', path: '/p/newsroom', colours: 'light' },
  { name: 'turn', path: '/p/newsroom/turns/reporter-1:1', colours: 'dark' },
];

await main(async () => {
  await onProjectNode();
  const missing = await step('Requirements', () => provideRequirements(['redis', 'docker', 'chromium']));
  if (missing.length > 0) throw new Error(`the pictures need ${missing.join(' and ')}`);
  await step('Build', build);
  await step('Images', () => bringImagesUpToDate({ source: 'auto', tests: false }));
  const data = await mkdtemp(join(tmpdir(), 'suzumio-screenshots-'));
  const environment = { ...process.env, SUZUMIO_ROOT: data };
  try {
    await step('The demo', () => run(process.execPath, [suzumio, 'demo'], { env: environment }));
    await step('Pictures', () => withServer(environment, takePictures));
  } finally {
    await rm(data, { recursive: true, force: true });
  }
});

/** Serves the demo's data; the team is asked for more, so that something waits. */
async function withServer(env, work) {
  const server = spawn(process.execPath, [suzumio, 'serve', '--port', '0', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const { url } = JSON.parse(await firstLine(server));
    const tell = async (...args) => {
      const { code, stdout, stderr } = await capture(process.execPath, [suzumio, ...args], { env });
      if (code !== 0) throw new Error(`suzumio ${args.join(' ')}: ${stderr}`);
      return stdout.trim();
    };
    await tell('request-changes', 'newsroom', 'editor', 'Please add when the north gauge rose fastest.');
    for (
      let asked = 0;
      JSON.parse(await tell('status', 'newsroom', '--json')).project.status !== 'submitted';
      asked += 1
    ) {
      if (asked === submittedWithin) throw new Error('the newsroom does not hand in its bulletin');
      await setTimeout(1_000);
    }
    await work(url, () => tell('open', '--print'));
  } finally {
    server.kill('SIGINT');
    await once(server, 'exit');
  }
}

/** The first line that a program says. */
async function firstLine({ stdout }) {
  for await (const line of createInterface({ input: stdout })) return line;
  throw new Error('the server ended before it said where it is');
}

async function takePictures(url, link) {
  const { chromium } = await import('playwright-core');
  await mkdir(pictures, { recursive: true });
  const window = await chromium.launch({
    executablePath: await browser(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  });
  try {
    for (const { name, path, colours } of views) {
      const context = await window.newContext({ viewport: desk, colorScheme: colours, reducedMotion: 'reduce' });
      const page = await context.newPage();
      await page.goto(await link());
      await page.getByRole('navigation', { name: 'Suzumio' }).waitFor();
      await page.goto(`${url}${path}`);
      await setTimeout(settleMs);
      await page.screenshot({ path: join(pictures, `${name}.png`) });
      await context.close();
    }
  } finally {
    await window.close();
  }
}
