import { readFileSync } from 'node:fs';
import process from 'node:process';
import { composeByHand, composeCommand } from './compose.mjs';
import { canInstall, install, installProgram } from './debian.mjs';
import { engineAnswers, startEngine } from './docker.mjs';
import { browser } from './browser.mjs';
import { capture, which } from './steps.mjs';
import { kindOf } from './suite-files.mjs';

/** What suites of a kind need. Each names the others in its own words, where it does without what must be skipped. */
const ofKinds = {
  process: ['redis', 'programs'],
  container: ['redis', 'programs', 'docker'],
  browser: ['redis', 'programs', 'docker', 'chromium'],
};

/** The names of what some suites need. */
export function requirementsOf(paths) {
  return paths.flatMap((path) => {
    const words = readFileSync(path, 'utf8');
    const named = words.includes('SUZUMIO_TEST_SKIP')
      ? requirements.filter(({ name }) => words.includes(`'${name}'`))
      : [];
    return [...(ofKinds[kindOf(path)] ?? []), ...named.map(({ name }) => name)];
  });
}

/** What the tests need besides Node: how to see it, how to get it by ourselves, how to get it by hand. */
const requirements = [
  {
    name: 'redis',
    title: 'redis-server 7 or newer',
    byHand: 'install it (Debian, Ubuntu: apt-get install redis-server; macOS: brew install redis)',
    present: async () => {
      const { stdout } = await capture('redis-server', ['--version']);
      return Number(/ v=(\d+)/.exec(stdout)?.[1] ?? 0) >= 7;
    },
    provide: () => installProgram('redis-server'),
  },
  {
    name: 'prometheus',
    title: 'Prometheus with promtool',
    byHand: 'install it (Debian, Ubuntu: apt-get install prometheus; macOS: brew install prometheus)',
    present: async () => {
      const found = await Promise.all(['prometheus', 'promtool'].map((program) => which(program)));
      return found.every(Boolean);
    },
    provide: () => installProgram('prometheus'),
  },
  {
    name: 'nginx',
    title: 'nginx, for the proxy of the documentation',
    byHand: 'install it (Debian, Ubuntu: apt-get install nginx; macOS: brew install nginx)',
    present: async () => (await which('nginx')) !== undefined,
    provide: () => installProgram('nginx'),
  },
  {
    name: 'curl',
    title: 'curl 7.82 or newer, for the examples of the documentation',
    byHand: 'install it (Debian, Ubuntu: apt-get install curl; macOS: brew install curl)',
    present: async () => {
      const { stdout } = await capture('curl', ['--version']);
      const [major, minor] = (/^curl (\d+)\.(\d+)/.exec(stdout) ?? []).slice(1).map(Number);
      return major > 7 || (major === 7 && minor >= 82);
    },
    provide: () => install('curl'),
  },
  {
    name: 'shells',
    title: 'zsh and fish, for the completion of commands',
    byHand: 'install them (Debian, Ubuntu: apt-get install zsh fish; macOS: brew install zsh fish)',
    present: async () => {
      const found = await Promise.all(['zsh', 'fish'].map((program) => which(program)));
      return found.every(Boolean);
    },
    provide: () => install('--no-install-recommends', 'zsh', 'fish'),
  },
  {
    name: 'programs',
    title: 'Git, ripgrep and Python 3, for agents that run as processes',
    byHand:
      'install them (Debian, Ubuntu: apt-get install git ripgrep python3; macOS: brew install git ripgrep python)',
    present: async () => {
      const found = await Promise.all(['git', 'rg', 'python3'].map((program) => which(program)));
      return found.every(Boolean);
    },
    provide: () => install('--no-install-recommends', 'git', 'ripgrep', 'python3'),
  },
  {
    name: 'docker',
    title: 'a Docker engine that answers',
    byHand: 'install it (https://docs.docker.com/engine/install), start it, and see that `docker version` works',
    present: engineAnswers,
    provide: async () => {
      if (process.env.DOCKER_HOST) throw new Error(`no engine answers at DOCKER_HOST=${process.env.DOCKER_HOST}`);
      if (!(await which('docker')) || !(await which('dockerd'))) await install('docker.io');
      await startEngine();
    },
  },
  {
    name: 'chromium',
    title: 'Chromium, for the page',
    byHand: 'install it (Debian: apt-get install chromium; elsewhere: npx playwright-core install chromium)',
    present: async () => (await browser()) !== undefined,
    provide: async () => {
      const packages = (name) => ['--no-install-recommends', name, 'fonts-dejavu-core'];
      // Older Debians have no package of the one without a window.
      await install(...packages('chromium-headless-shell')).catch(() => install(...packages('chromium')));
    },
  },
  {
    name: 'compose',
    title: 'Docker Compose',
    byHand: composeByHand,
    present: async () => (await composeCommand()) !== undefined,
    provide: () => install('--no-install-recommends', 'docker-compose'),
  },
];

/**
 * Provides what the tests need where that is possible (on Debian, as root).
 *
 * @param wanted the names of what is needed
 * @returns the names of what is missing, whose suites must be skipped: none with `CI=true`, which throws instead.
 */
export async function provideRequirements(wanted = requirements.map(({ name }) => name)) {
  const missing = [];
  for (const requirement of requirements.filter(({ name }) => wanted.includes(name))) {
    const { name, title, byHand, present } = requirement;
    const problem = (await present()) ? undefined : await tryToProvide(requirement);
    console.log(`    ${title}: ${problem === undefined ? 'yes' : `MISSING (${problem})\n      ${byHand}`}`);
    if (problem !== undefined) missing.push(name);
  }
  if (missing.length > 0) {
    if (process.env.CI === 'true') throw new Error('with CI=true nothing is skipped');
    console.log(`    SKIPPED: what needs ${missing.join(' or ')}`);
  }
  return missing;
}

async function tryToProvide({ present, provide }) {
  if (!canInstall()) return 'installed and started automatically only on Debian as root';
  try {
    await provide();
    return (await present()) ? undefined : 'still not there after its packages were installed';
  } catch (error) {
    return error.message;
  }
}
