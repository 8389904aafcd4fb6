import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { expect } from '@jest/globals';
import { freePort } from './free-port.js';
import { docker } from './images.js';
import { brokenInvariants, openProject } from './project.js';

// Starts: docker-compose.yml, deploy, scripts/stack.mjs, cli, services/api, services/scheduler, services/toolhost, services/turn-worker.

const repository = fileURLToPath(new URL('../..', import.meta.url));

export interface Finished {
  code: number | null;
  out: string;
  err: string;
}

/** A project whose writer passes each message on once, in a turn that takes `wait`. */
export const relay = (wait: string): string => `
name: relay
task: Pass on what comes in.
# On a busy machine, leases run out that no kill has ended.
turn: { maxAttempts: 20 }
backend:
  docker: { keep: never }
  runner:
    mode: mock
    script:
      - agent: writer
        steps:
          - wait: ${wait}
          - tool: messages.send
            input: { recipient: lead, body: "{{mail.0.body}}" }
agents:
  lead: { role: lead, prompt: Read., tools: [] }
  writer: { role: writer, prompt: Pass it on., tools: [messages.send] }
`;

/** What the API answers with a list. */
export interface Listed<Item> {
  items: Item[];
}

/** The stack of one settings file, driven by the commands that are documented. */
export class ComposeStack {
  constructor(readonly file: string) {}

  /** Writes the settings of a stack that is like no other, into a directory of its own. */
  static async create(): Promise<ComposeStack> {
    const directory = await mkdtemp(join(tmpdir(), 'suzumio-compose-'));
    const settings = {
      COMPOSE_PROJECT_NAME: `suzumio-test-${randomBytes(4).toString('hex')}`,
      SUZUMIO_PUBLISH: `127.0.0.1:${String(await freePort())}`,
      SUZUMIO_PROMETHEUS_PUBLISH: `127.0.0.1:${String(await freePort())}`,
      SUZUMIO_WORKER_DIR: join(directory, 'worker'),
      SUZUMIO_LEASE_MS: '4000',
      SUZUMIO_SWEEP_MS: '500',
    };
    const stack = new ComposeStack(join(directory, '.env'));
    await writeFile(
      stack.file,
      Object.entries(settings)
        .map((setting) => `${setting.join('=')}\n`)
        .join(''),
    );
    return stack;
  }

  get directory(): string {
    return dirname(this.file);
  }

  /** Takes down what {@link create} was for; the engine has nothing of it afterwards. */
  async remove(): Promise<void> {
    await this.run('down', '--volumes');
    const left = await this.leftovers();
    await this.removeWorkspaces();
    await rm(this.directory, { recursive: true, force: true });
    expect(left).toEqual([]);
  }

  get settings(): Record<string, string | undefined> {
    return parseEnv(readFileSync(this.file, 'utf8'));
  }

  /** `npm run stack -- …` */
  stack(...args: string[]): Promise<Finished> {
    return finished('npm', ['run', '--silent', 'stack', '--', '--settings', this.file, ...args]);
  }

  /** The same where it must succeed. */
  async run(...args: string[]): Promise<string> {
    const { code, out, err } = await this.stack(...args);
    if (code !== 0) throw new Error(`npm run stack -- ${args.join(' ')} ended with ${String(code)}:\n${out}${err}`);
    return out;
  }

  /** What `npm run stack -- env` makes of the environment. */
  async environment(): Promise<{ SUZUMIO_URL: string; SUZUMIO_TOKEN: string }> {
    const said = await this.run('env');
    const { out } = await finished('sh', ['-c', `${said}\nprintf '%s\\n' "$SUZUMIO_URL" "$SUZUMIO_TOKEN"`]);
    const [SUZUMIO_URL = '', SUZUMIO_TOKEN = ''] = out.split('\n');
    return { SUZUMIO_URL, SUZUMIO_TOKEN };
  }

  /** `npx suzumio …`, for this stack. */
  async suzumio(...args: string[]): Promise<Finished> {
    return finished('npx', ['suzumio', ...args], await this.environment());
  }

  async api(method: 'GET' | 'POST', path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    const { SUZUMIO_PUBLISH: address, SUZUMIO_ADMIN_TOKEN: token } = this.settings;
    const response = await fetch(`http://${address ?? ''}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${token ?? ''}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }

  /** They belong to the users of workers and turns. */
  async removeWorkspaces(): Promise<void> {
    const directory = this.settings['SUZUMIO_WORKER_DIR'] ?? '';
    const remove = `for (const name of fs.readdirSync('/w')) fs.rmSync('/w/' + name, { recursive: true })`;
    await docker(
      ...['run', '--rm', '--user', '0:0', '--network', 'none', '--volume', `${directory}:/w`],
      ...['--entrypoint', 'node', 'suzumio-turn-worker:dev', '-e', remove],
    );
  }

  /** The names of its containers, of one service or of all. */
  async containers(service?: string): Promise<string[]> {
    const filters = [
      `label=${this.label}`,
      ...(service === undefined ? [] : [`label=com.docker.compose.service=${service}`]),
    ];
    return lines(
      await docker('ps', '--all', ...filters.flatMap((each) => ['--filter', each]), '--format', '{{.Names}}'),
    );
  }

  /** What each of its containers is, of one service or of all, in a format of `docker inspect`. */
  async inspected<Value>(format: string, service?: string): Promise<Value[]> {
    const found = await docker('inspect', '--format', `{{json ${format}}}`, ...(await this.containers(service)));
    return found.split('\n').map((line) => JSON.parse(line) as Value);
  }

  /** That its containers have no more rights than they need. */
  async expectConfined(services: readonly string[]): Promise<void> {
    for (const host of await this.inspected<Record<string, unknown>>('.HostConfig')) {
      expect(host).toMatchObject({
        Init: true,
        Privileged: false,
        ReadonlyRootfs: true,
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges:true'],
        RestartPolicy: { Name: 'unless-stopped' },
        LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '3' } },
      });
      expect(host['Memory']).toBeGreaterThan(0);
      expect(host['PidsLimit']).toBeGreaterThan(0);
    }
    for (const service of services) {
      const isWorker = service === 'turn-worker';
      for (const user of await this.inspected<string>('.Config.User', service))
        expect(user).toMatch(isWorker ? /^0:0$/ : /^[1-9]\d*:[1-9]\d*$/);
      // Who has the engine's socket is root anyway; with these, turns need not run as the same user.
      for (const added of await this.inspected<string[] | null>('.HostConfig.CapAdd', service))
        expect(added?.map((name) => name.replace('CAP_', '')) ?? []).toEqual(
          isWorker ? ['CHOWN', 'DAC_OVERRIDE', 'FOWNER'] : [],
        );
    }
  }

  /** Stops it, and looks at the projects that it leaves and for secrets in its logs. */
  async expectSound(projects: readonly string[]): Promise<void> {
    for (const service of ['api', 'scheduler', 'toolhost']) await docker('stop', ...(await this.containers(service)));
    const backup = join(this.directory, 'backup');
    await docker('cp', `${(await this.containers('api')).join('')}:/var/lib/suzumio`, backup);
    for (const id of projects) {
      const project = openProject(backup, id);
      try {
        expect(brokenInvariants(project)).toEqual([]);
      } finally {
        project.close();
      }
    }
    const { settings } = this;
    const secrets = ['REDIS_PASSWORD', 'WORKER_TOKEN', 'ADMIN_TOKEN'].map((name) => settings[`SUZUMIO_${name}`] ?? '');
    const logs = await this.run('logs');
    for (const service of ['redis', 'api', 'scheduler', 'toolhost', 'turn-worker'])
      expect(logs).toMatch(new RegExp(`${service}[_-]1`));
    for (const secret of secrets) expect(logs).not.toContain(secret);
  }

  /** Whatever the engine still has of it: containers of services and of turns, volumes, networks. */
  private async leftovers(): Promise<string[]> {
    const ours = ['--filter', `label=${this.label}`];
    const turns = ['--filter', `label=suzumio.cell=${this.settings['SUZUMIO_CELL'] ?? ''}`];
    const lists = [
      ['ps', '--all', ...ours],
      ['ps', '--all', ...turns],
      ['volume', 'ls', ...ours],
      ['network', 'ls', ...ours],
    ];
    return (await Promise.all(lists.map(async (list) => lines(await docker(...list, '--quiet'))))).flat();
  }

  private get label(): string {
    return `com.docker.compose.project=${this.settings['COMPOSE_PROJECT_NAME'] ?? ''}`;
  }
}

/** Runs a command in the repository. */
export async function finished(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  const env = { ...process.env, ...environment };
  const child = spawn(command, args, { cwd: repository, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, out, err };
}

const lines = (output: string) => output.split('\n').filter((line) => line !== '');
