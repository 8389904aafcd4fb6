import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { appendFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from './support/poll.js';
import { ComposeStack, finished, type Listed, relay } from './support/compose.js';
import { docker } from './support/images.js';
import { brokenInvariants, openProject } from './support/project.js';

const newsroom = fileURLToPath(new URL('../examples/newsroom/newsroom.yaml', import.meta.url));
const skipped = (process.env['SUZUMIO_TEST_SKIP'] ?? '').split(',');
/** Its turns take so long that a service can be killed in the middle of one. */
const relayFile = relay('2s');
const services = ['redis', 'api', 'scheduler', 'toolhost', 'turn-worker'] as const;

(skipped.includes('docker') || skipped.includes('compose') ? describe.skip : describe)(
  'the stack of docker-compose.yml',
  () => {
    let directory: string;
    let stack: ComposeStack;

    beforeAll(async () => {
      stack = await ComposeStack.create();
      ({ directory } = stack);
      // The images are those that this run of the tests has built; building anew has a test of its own.
      await stack.run('--no-build', '--scale', 'turn-worker=3', '--metrics');
    });
    afterAll(async () => {
      // As a worker keeps the container of a failed attempt.
      await docker('create', '--label', `suzumio.cell=${stack.settings['SUZUMIO_CELL'] ?? ''}`, 'suzumio-runner:dev');
      await stack.remove();
    });

    /** What every container comes to, by name. */
    async function inspected<Value>(format: string, service?: string): Promise<Value[]> {
      const found = await docker('inspect', '--format', `{{json ${format}}}`, ...(await stack.containers(service)));
      return found.split('\n').map((line) => JSON.parse(line) as Value);
    }

    const addresses = async (service: string, port: number) => {
      const networks = await inspected<Record<string, { IPAddress: string }>>('.NetworkSettings.Networks', service);
      return networks.flatMap(Object.values<{ IPAddress: string }>).map(({ IPAddress: ip }) => `${ip}:${String(port)}`);
    };

    test('keeps its settings and secrets in a file for nobody else to read, and leaves there what is there', async () => {
      expect(statSync(stack.file).mode & 0o777).toBe(0o600);
      const before = readFileSync(stack.file, 'utf8');
      const { SUZUMIO_URL: url, SUZUMIO_TOKEN: token } = await stack.environment();
      expect(readFileSync(stack.file, 'utf8')).toBe(before);
      expect([`http://${stack.settings['SUZUMIO_PUBLISH'] ?? ''}`, stack.settings['SUZUMIO_ADMIN_TOKEN']]).toEqual([
        url,
        token,
      ]);
      expect((await fetch(`${url}/api/projects`)).status).toBe(401);
      expect((await stack.api('GET', '/projects')).status).toBe(200);
    });

    test('runs three workers, each in a directory of its own', async () => {
      expect(await stack.containers('turn-worker')).toHaveLength(3);
      const worker = join(directory, 'worker');
      expect(await readdir(worker)).toEqual(['1', '2', '3']);
    });

    test('gives its containers no more than they need', async () => {
      for (const host of await inspected<Record<string, unknown>>('.HostConfig')) {
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
      for (const service of [...services, 'prometheus']) {
        const isWorker = service === 'turn-worker';
        for (const user of await inspected<string>('.Config.User', service))
          expect(user).toMatch(isWorker ? /^0:0$/ : /^[1-9]\d*:[1-9]\d*$/);
        // Who has the engine's socket is root anyway; with these, turns need not run as the same user.
        for (const added of await inspected<string[] | null>('.HostConfig.CapAdd', service))
          expect(added?.map((name) => name.replace('CAP_', '')) ?? []).toEqual(
            isWorker ? ['CHOWN', 'DAC_OVERRIDE', 'FOWNER'] : [],
          );
      }
      const published = (
        await inspected<Record<string, { HostIp: string }[] | null>>('.NetworkSettings.Ports')
      ).flatMap((ports) =>
        Object.entries(ports).flatMap(([port, bound]) => (bound ?? []).map(({ HostIp: ip }) => `${ip} ${port}`)),
      );
      expect(published.sort()).toEqual(['127.0.0.1 39400/tcp', '127.0.0.1 9090/tcp']);
    });

    test('lets a worker reach Redis and the ToolHost, and neither the API nor the scheduler nor anything outside', async () => {
      const [worker = ''] = await stack.containers('turn-worker');
      const found = ['redis:6379', 'toolhost:39410', 'toolhost:39411'];
      const hidden = await Promise.all([
        addresses('api', 39_400),
        addresses('api', 9464),
        addresses('scheduler', 9464),
      ]);
      const places = [...found, ...hidden.flat(), '192.0.2.1:443'];
      expect(places).toHaveLength(9);
      const knock = `for (const place of ${JSON.stringify(places)}) {
      const [host, port] = place.split(':');
      const socket = require('node:net').connect({ host, port }).setTimeout(2000, () => socket.destroy());
      socket.on('error', () => {}).on('connect', () => { console.log(place); socket.destroy(); });
    }`;
      const reached = (await docker('exec', worker, 'node', '-e', knock)).split('\n');
      expect(reached.sort()).toEqual(found);
    });

    test('runs the newsroom, through the published API and in containers', async () => {
      for (const command of [
        ['init', newsroom],
        ['start', 'newsroom'],
        ['send', 'newsroom', 'editor', 'P1', "Tonight's bulletin, please."],
      ]) {
        expect(await stack.suzumio(...command)).toMatchObject({ code: 0 });
      }
      const wait = () => stack.api('GET', '/projects/newsroom/wait?status=submitted&timeout=45s');
      const first = await wait();
      const { body } = (first.body as { reached?: string | null }).reached === 'submitted' ? first : await wait();
      expect(body).toMatchObject({ reached: 'submitted', project: { status: 'submitted' } });
      expect((await stack.suzumio('report', 'newsroom')).out).toMatch(/^# River level tonight\n/);
      expect(await stack.suzumio('approve', 'newsroom')).toMatchObject({ code: 0 });
    });

    test('runs the turns of each project as a user that runs nothing else', async () => {
      const look = `const fs = require('node:fs');
        for (const worker of fs.readdirSync(process.env.SUZUMIO_WORKER_DIR)) {
          const top = process.env.SUZUMIO_WORKER_DIR + '/' + worker + '/workspaces/' + process.env.SUZUMIO_CELL;
          for (const project of fs.existsSync(top) ? fs.readdirSync(top) : [])
            for (const agent of fs.readdirSync(top + '/' + project)) {
              const { uid, gid } = fs.statSync(top + '/' + project + '/' + agent);
              console.log(project + ' ' + uid + ':' + gid);
            }
        }`;
      const [worker = ''] = await stack.containers('turn-worker');
      const users = (await docker('exec', worker, 'node', '-e', look)).split('\n');
      const ofProjects = Array.from(new Set(users), (line) => line.split(' '));
      for (const [, user] of ofProjects) expect(user).toMatch(/^39\d{7}:39400$/);
      expect(new Set(ofProjects.map(([project]) => project)).size).toBe(ofProjects.length);
      expect(new Set(ofProjects.map(([, user]) => user)).size).toBe(ofProjects.length);
      for (const user of await inspected<string>('.Config.User')) expect(user).not.toMatch(/^39\d{7}:/);
    });

    test('shows every service to Prometheus once, with its figures', async () => {
      const address = stack.settings['SUZUMIO_PROMETHEUS_PUBLISH'] ?? '';
      const ask = async (expression: string) => {
        const response = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(expression)}`);
        const answer = (await response.json()) as {
          data: { result: { metric: { job?: string }; value: [number, string] }[] };
        };
        return Object.fromEntries(answer.data.result.map(({ metric, value }) => [metric.job ?? '', Number(value[1])]));
      };
      const { items } = (await stack.api('GET', '/projects/newsroom/turns?limit=200')).body as Listed<{
        status: string;
      }>;
      const completed = items.filter(({ status }) => status === 'completed').length;
      const wanted = {
        up: { api: 1, scheduler: 1, toolhost: 1, 'turn-worker': 3 },
        ready: { 'turn-worker': 3 },
        completed: { '': completed },
      };
      let known: unknown;
      await eventually('Prometheus knows', async () => {
        known = {
          up: await ask('sum by (job) (up)'),
          ready: await ask('sum by (job) (suzumio_worker_ready)'),
          completed: await ask('sum(suzumio_turns_ended_total{outcome="completed"})'),
        };
        return isDeepStrictEqual(known, wanted);
      }).catch(() => undefined);
      expect(known).toEqual(wanted);
    });

    test('takes a worker of another machine, started as documented, which runs turns while no other does', async () => {
      const documented = readFileSync(new URL('../docs/deployment.md', import.meta.url), 'utf8');
      const block = (first: string) =>
        /^```sh\n([^`]*)^```/m.exec(documented.slice(documented.indexOf(first) - 6))?.[1];
      const own = join(directory, 'elsewhere');
      const name = `${stack.settings['COMPOSE_PROJECT_NAME'] ?? ''}-elsewhere`;
      const [networks] = await inspected<object>('.NetworkSettings.Networks', 'redis');
      const [network = ''] = Object.keys(networks ?? {});
      // The other machine is this one: what stands for its address and secrets are the stack's.
      const settings = (block('SUZUMIO_CELL=') ?? '')
        .replace('cell-4f1c09ab', stack.settings['SUZUMIO_CELL'] ?? '')
        .replace('PASSWORD@10.0.0.5', `${stack.settings['SUZUMIO_REDIS_PASSWORD'] ?? ''}@redis`)
        .replaceAll('10.0.0.5', 'toolhost')
        .replace('CREDENTIAL', stack.settings['SUZUMIO_WORKER_TOKEN'] ?? '')
        .replace('/var/lib/suzumio-worker', own);
      await writeFile(join(directory, 'worker.env'), settings, { mode: 0o600 });
      const commands = (block('install -d') ?? '')
        .replaceAll('/var/lib/suzumio-worker', own)
        .replace('worker.env', join(directory, 'worker.env'))
        .replace('--name suzumio-worker', `--name ${name} --network ${network}`);
      try {
        expect(await finished('sh', ['-ec', commands])).toMatchObject({ code: 0 });
        await stack.run('--no-build', '--scale', 'turn-worker=0', '--metrics');
        const file = relayFile.replace('name: relay', 'name: elsewhere');
        const message = { recipient: 'writer', body: 'Is anybody there?' };
        expect(await stack.api('POST', '/projects', { file, start: true, message })).toMatchObject({ status: 201 });
        await eventually('the turn has ended', async () => {
          const { items } = (await stack.api('GET', '/projects/elsewhere/turns')).body as Listed<{ status: string }>;
          return items.some(({ status }) => status === 'completed');
        });
      } finally {
        // It removes its containers before it ends.
        await finished('docker', ['stop', '--time', '30', name]);
        await finished('docker', ['rm', '--force', name]);
        await stack.run('--no-build', '--scale', 'turn-worker=3', '--metrics');
      }
    });

    test('starts anew what reads the policy, where that has changed, and nothing else', async () => {
      const ids = async () => {
        const found = await inspected<{ Id: string; Config: { Labels: Record<string, string> } }>('.');
        const of = (service: string) =>
          found.filter(({ Config: { Labels: labels } }) => labels['com.docker.compose.service'] === service);
        const names = [...services, 'prometheus'];
        return Object.fromEntries(names.map((service) => [service, new Set(of(service).map(({ Id: id }) => id))]));
      };
      const file = relayFile
        .replace('name: relay', 'name: bigger')
        .replace('keep: never', 'keep: never, network: bridge');
      const post = () => stack.api('POST', '/projects', { file });
      expect(await post()).toMatchObject({ status: 403, body: { code: 'policy-denied' } });
      const before = await ids();
      const up = () => stack.run('--no-build', '--metrics');
      await up();
      expect(await ids()).toEqual(before);

      await appendFile(stack.settings['SUZUMIO_POLICY_FILE'] ?? '', 'networks: [none, bridge]\n');
      await up();
      const after = await ids();
      const anew = Object.keys(before).filter((service) => !isDeepStrictEqual(before[service], after[service]));
      expect(anew.sort()).toEqual(['api', 'scheduler', 'toolhost', 'turn-worker']);
      expect([...(after['turn-worker'] ?? [])].filter((id) => before['turn-worker']?.has(id))).toEqual([]);
      expect(await post()).toMatchObject({ status: 201 });
    });

    test('says what is missing, where no engine is', async () => {
      const script = ['scripts/stack.mjs', '--settings', join(directory, 'none.env')];
      const { code, err } = await finished(process.execPath, script, {
        DOCKER_HOST: 'unix:///nonexistent/docker.sock',
      });
      expect([code, err]).toEqual([
        1,
        '\nThere is no Docker socket /nonexistent/docker.sock: start the Docker engine, see that `docker version` works, and run this again.\n',
      ]);
    });

    test('says whose port it is that is taken', async () => {
      const other = new ComposeStack(join(directory, 'other.env'));
      await writeFile(
        other.file,
        `COMPOSE_PROJECT_NAME=suzumio-test-other\nSUZUMIO_PUBLISH=${stack.settings['SUZUMIO_PUBLISH'] ?? ''}\n`,
      );
      const { code, err } = await other.stack();
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/ is taken; .* set SUZUMIO_PUBLISH in .* to another address\.\n$/),
      ]);
    });

    test('leaves alone what another copy of the project runs under the same name', async () => {
      const copy = join(directory, 'copy');
      await mkdir(copy);
      const name = `suzumio-test-${randomBytes(4).toString('hex')}`;
      const label = 'com.docker.compose.project';
      const labels = [`${label}=${name}`, `${label}.working_dir=${copy}`].flatMap((one) => ['--label', one]);
      await docker('create', '--name', name, ...labels, 'suzumio-redis:dev');
      try {
        const ours = new ComposeStack(join(directory, 'ours.env'));
        await writeFile(ours.file, `COMPOSE_PROJECT_NAME=${name}\n`);
        const belongs = `The stack "${name}" on this machine belongs to ${copy}. Set COMPOSE_PROJECT_NAME in ${ours.file} to a name of its own`;
        for (const command of [[], ['down', '--volumes']]) {
          const { code, err } = await ours.stack(...command);
          expect([command, code, err]).toEqual([command, 1, expect.stringContaining(belongs)]);
        }
        // A copy that is gone, or was moved, looks after nothing any more.
        await rm(copy, { recursive: true });
        expect((await ours.stack('status')).code).toBe(0);
      } finally {
        await docker('rm', '--force', name);
      }
    });

    describe('goes on', () => {
      beforeAll(async () => {
        expect(await stack.api('POST', '/projects', { file: relayFile, start: true })).toMatchObject({ status: 201 });
      });

      const turns = async () =>
        ((await stack.api('GET', '/projects/relay/turns?limit=200')).body as Listed<{ agent: string; status: string }>)
          .items;

      test.each(services)(
        'after docker kill of %s in the middle of a turn, once it is brought up again',
        async (service) => {
          const body = `Through the end of ${service}.`;
          expect((await stack.api('POST', '/projects/relay/messages', { recipient: 'writer', body })).status).toBe(201);
          await eventually('the turn runs', async () =>
            (await turns()).some(({ agent, status }) => agent === 'writer' && status === 'running'),
          );
          await docker('kill', ...(await stack.containers(service)));
          await stack.run('--no-build', '--metrics');
          await eventually('every turn has ended', async () =>
            (await turns()).every(({ status }) => status === 'completed'),
          );
          const { items } = (await stack.api('GET', '/projects/relay/messages?limit=200')).body as Listed<{
            sender: string;
            body: string;
          }>;
          expect(items.filter((message) => message.sender === 'writer' && message.body === body)).toHaveLength(1);
        },
      );

      test('after a crash, without anybody', async () => {
        const [name = ''] = await stack.containers('toolhost');
        const crash = `for (const pid of fs.readdirSync('/proc').filter(Number)) {
        if (fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8').startsWith('node\\0/opt/suzumio/dist')) process.kill(pid, 'SIGKILL');
      }`;
        await docker('exec', name, 'node', '-e', crash);
        await eventually('it runs again', async () => {
          const [state] = await inspected<{ RestartCount: number; State: { Health: { Status: string } } }>(
            '.',
            'toolhost',
          );
          return state?.RestartCount === 1 && state.State.Health.Status === 'healthy';
        });
      });

      test('until it is stopped, with its data in good order and no secret in any log', async () => {
        for (const service of ['api', 'scheduler', 'toolhost'])
          await docker('stop', ...(await stack.containers(service)));
        await docker('cp', `${(await stack.containers('api')).join('')}:/var/lib/suzumio`, join(directory, 'backup'));
        for (const id of ['newsroom', 'relay']) {
          const project = openProject(join(directory, 'backup'), id);
          try {
            expect(brokenInvariants(project)).toEqual([]);
          } finally {
            project.close();
          }
        }
        const {
          SUZUMIO_REDIS_PASSWORD: password = '',
          SUZUMIO_WORKER_TOKEN: worker = '',
          SUZUMIO_ADMIN_TOKEN: admin = '',
        } = stack.settings;
        const logs = await stack.run('logs');
        for (const service of services) expect(logs).toMatch(new RegExp(`${service}[_-]1`));
        for (const secret of [password, worker, admin]) expect(logs).not.toContain(secret);
      });
    });

    test('is built anew and brought up to date by the same command, which says where the page is', async () => {
      const said = await stack.run('--metrics');
      expect(said).toContain(
        `page: http://${stack.settings['SUZUMIO_PUBLISH'] ?? ''}/   (npx suzumio open signs you in)`,
      );
      const page = await fetch(`http://${stack.settings['SUZUMIO_PUBLISH'] ?? ''}/`);
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    });
  },
);
