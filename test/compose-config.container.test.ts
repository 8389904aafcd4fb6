import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { toPlain } from '@suzumio/core/config/config-node';
import { ProblemList } from '@suzumio/core/config/config-problem';
import { fullBudget, readYaml } from '@suzumio/core/config/yaml-reader';
import { finished } from './support/compose.js';

const skipped = (process.env['SUZUMIO_TEST_SKIP'] ?? '').split(',').includes('compose');
const planted = 'sk-planted-0123456789abcdef';

interface Service {
  environment?: Record<string, string | null>;
  networks?: string[] | Record<string, unknown>;
  labels?: Record<string, string>;
  scale?: number;
  volumes?: unknown[];
}

(skipped ? describe.skip : describe)('what docker-compose.yml comes to', () => {
  let directory: string;
  let services: Record<string, Service>;

  /** With a provider's key both where it belongs and in the shell of who starts it. */
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'suzumio-compose-config-'));
    const providers = join(directory, 'providers.env');
    await writeFile(providers, `# keys\nOPENAI_API_KEY=${planted}\nMODELS_URL=http://host.docker.internal:8000/v1\n`);
    const settings = {
      SUZUMIO_CELL: 'cell-test',
      SUZUMIO_DOCKER_GROUP: '1',
      SUZUMIO_WORKER_DIR: join(directory, 'worker'),
      SUZUMIO_WORKSPACES_DIR: directory,
      SUZUMIO_POLICY_FILE: join(directory, 'policy.yaml'),
      SUZUMIO_PROVIDERS_FILE: providers,
      SUZUMIO_REDIS_PASSWORD: 'redis-password',
      SUZUMIO_WORKER_TOKEN: 'worker-token',
      SUZUMIO_ADMIN_TOKEN: 'admin-token',
      SUZUMIO_BUDGET_USD_PER_DAY: '2.5',
      SUZUMIO_TURN_WORKERS: '3',
      SUZUMIO_PUBLIC_URL: 'https://team.example/suzumio',
      SUZUMIO_CORS_ORIGINS: 'https://pages.example',
    };
    const file = join(directory, '.env');
    const lines = Object.entries(settings).map((setting) => `${setting.join('=')}\n`);
    await writeFile(file, lines.join(''));
    const second = await finished('docker', ['compose', 'version']);
    const [command, first] = second.code === 0 ? ['docker', ['compose']] : ['docker-compose', []];
    const args = [...first, '--env-file', file, '--profile', 'metrics', 'config'];
    const environment = { OPENAI_API_KEY: planted, SUZUMIO_POLICY_SHA256: 'its-hash' };
    const { code, out, err } = await finished(command, args, environment);
    if (code !== 0) throw new Error(err);
    const read = toPlain(readYaml(out, file, new ProblemList(), fullBudget()));
    services = (read as { services: Record<string, Service> }).services;
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const withVariable = (name: string) =>
    Object.keys(services)
      .filter((service) => services[service]?.environment?.[name] !== undefined)
      .sort();

  test('gives keys and addresses of providers to the ToolHost, and to no other service', () => {
    expect(Object.keys(services)).toHaveLength(6);
    expect(withVariable('OPENAI_API_KEY')).toEqual(['toolhost']);
    expect(withVariable('MODELS_URL')).toEqual(['toolhost']);
    const holding = Object.keys(services).filter((service) => JSON.stringify(services[service]).includes(planted));
    expect(holding).toEqual(['toolhost']);
  });

  test("tells the day's budget to the ToolHost, which keeps it, and to the API, which shows it", () => {
    expect(withVariable('SUZUMIO_BUDGET_USD_PER_DAY')).toEqual(['api', 'toolhost']);
    expect(services['toolhost']?.environment).toMatchObject({ SUZUMIO_BUDGET_USD_PER_DAY: '2.5' });
  });

  test('tells the API where a proxy serves it', () => {
    expect(withVariable('SUZUMIO_PUBLIC_URL')).toEqual(['api']);
    expect(services['api']?.environment).toMatchObject({ SUZUMIO_PUBLIC_URL: 'https://team.example/suzumio' });
  });

  test('tells the API alone whose pages may use it', () => {
    expect(withVariable('SUZUMIO_CORS_ORIGINS')).toEqual(['api']);
    expect(services['api']?.environment).toMatchObject({ SUZUMIO_CORS_ORIGINS: 'https://pages.example' });
  });

  test('starts those that read the policy anew where that has changed', () => {
    const labelled = Object.keys(services).filter((service) => services[service]?.labels?.['suzumio.policy']);
    expect(labelled.sort()).toEqual(['api', 'scheduler', 'toolhost', 'turn-worker']);
    const mounting = Object.keys(services).filter((service) =>
      JSON.stringify(services[service]?.volumes ?? []).includes('policy.yaml'),
    );
    expect(mounting.sort()).toEqual(labelled);
  });

  test('runs as many workers as the settings say, whoever starts it', () => {
    expect(services['turn-worker']?.scale).toBe(3);
  });

  test('lets the ToolHost alone reach providers', () => {
    const reaching = Object.entries(services).filter(([, { networks = [] }]) =>
      (Array.isArray(networks) ? networks : Object.keys(networks)).includes('egress'),
    );
    expect(reaching.map(([service]) => service)).toEqual(['toolhost']);
  });
});

test('npm run stack makes files that its containers can read, whatever the umask', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'suzumio-umask-'));
  try {
    const make = `import('./scripts/lib/stack-settings.mjs').then(async ({ makePlaces, stackSettings }) =>
      makePlaces((await stackSettings(process.argv[1])).values))`;
    const script = 'umask 077; exec node -e "$1" "$0/.env"';
    const places = { SUZUMIO_WORKER_DIR: join(directory, 'worker'), SUZUMIO_DOCKER_GROUP: '1' };
    expect(await finished('sh', ['-c', script, directory, make], places)).toMatchObject({ code: 0, err: '' });
    const modes = ['.env', '.suzumio/policy.yaml', '.suzumio/providers.env', 'worker'].map(async (path) => {
      const { mode } = await stat(join(directory, path));
      return `${path} ${(mode & 0o777).toString(8)}`;
    });
    expect(await Promise.all(modes)).toEqual([
      '.env 600',
      '.suzumio/policy.yaml 644',
      '.suzumio/providers.env 600',
      'worker 700',
    ]);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test.each([
  ['d.sock', /^(.*\/d\.sock) \d+\n$/, ''],
  // In a virtual machine, whose own socket is elsewhere.
  ['.colima/default/docker.sock', /^\/var\/run\/docker\.sock 0\n$/, ''],
  ['gone/d.sock', /^$/, 'There is no Docker socket'],
  ['tcp://10.0.0.5:2375', /^$/, "Docker's engine is at tcp://10.0.0.5:2375"],
])('npm run stack gives workers the engine of the current context: %s', async (host, out, err) => {
  const directory = await mkdtemp(join(tmpdir(), 'suzumio-context-'));
  try {
    for (const path of ['d.sock', '.colima/default/docker.sock']) {
      await mkdir(join(directory, path, '..'), { recursive: true });
      await writeFile(join(directory, path), '');
    }
    const id = createHash('sha256').update('mine').digest('hex');
    await mkdir(join(directory, 'contexts/meta', id), { recursive: true });
    const docker = { Host: host.startsWith('tcp:') ? host : `unix://${join(directory, host)}` };
    await writeFile(
      join(directory, 'contexts/meta', id, 'meta.json'),
      JSON.stringify({ Name: 'mine', Metadata: {}, Endpoints: { docker } }),
    );
    await writeFile(join(directory, 'config.json'), '{"currentContext":"mine"}');
    const script = `import('./scripts/lib/stack-settings.mjs').then(async ({ stackSettings }) => {
      const { values } = await stackSettings(process.argv[1]);
      console.log(values.SUZUMIO_DOCKER_SOCKET, values.SUZUMIO_DOCKER_GROUP);
    })`;
    const settings = { DOCKER_CONFIG: directory, DOCKER_HOST: '', DOCKER_CONTEXT: '' };
    const ended = await finished(process.execPath, ['-e', script, join(directory, '.env')], settings);
    expect(ended.out).toMatch(out);
    expect(ended.err).toContain(err);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('what is chosen once is kept in the settings, and everything else there stays as it was', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'suzumio-setting-'));
  try {
    const file = join(directory, '.env');
    await writeFile(file, '# Mine.\nSUZUMIO_TURN_WORKERS=1\nSUZUMIO_ADMIN_TOKEN=abc\n', { mode: 0o600 });
    const keep = (name: string, value: string, environment = {}) => {
      const script = `import('./scripts/lib/stack-settings.mjs').then(async ({ keepSetting }) =>
        console.log((await keepSetting(process.argv[1], {}, process.argv[2], process.argv[3]))[process.argv[2]]))`;
      return finished(process.execPath, ['-e', script, file, name, value], environment);
    };
    expect(await keep('SUZUMIO_TURN_WORKERS', '3')).toMatchObject({ code: 0, out: '3\n' });
    const kept = '# Mine.\nSUZUMIO_TURN_WORKERS=3\nSUZUMIO_ADMIN_TOKEN=abc\n';
    expect(await readFile(file, 'utf8')).toBe(kept);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    // What the shell says would win over what is written.
    const other = await keep('SUZUMIO_TURN_WORKERS', '5', { SUZUMIO_TURN_WORKERS: '2' });
    expect([other.code, other.err]).toEqual([1, expect.stringContaining('unset it there')]);
    expect((await keep('SUZUMIO_OTHER', '1')).code).toBe(1);
    expect(await readFile(file, 'utf8')).toBe(kept);
  } finally {
    await rm(directory, { recursive: true });
  }
});
