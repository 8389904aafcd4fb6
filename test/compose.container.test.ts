import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { appendFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from './support/poll.js';
import { ComposeStack, finished, type Listed, relay } from './support/compose.js';
import { docker } from './support/images.js';

const skipped = (process.env['SUZUMIO_TEST_SKIP'] ?? '').split(',');
/** Its turns take so long that a service can be killed in the middle of one. */
const relayFile = relay('2s');
const services = ['redis', 'api', 'scheduler', 'toolhost', 'turn-worker'] as const;

(skipped.includes('docker') || skipped.includes('compose') ? describe.skip : describe)(
  'the stack of docker-compose.yml, as people go on with it',
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

    test('runs three workers, each in a directory of its own', async () => {
      expect(await stack.containers('turn-worker')).toHaveLength(3);
      const worker = join(directory, 'worker');
      expect(await readdir(worker)).toEqual(['1', '2', '3']);
    });

    test('confines Prometheus as it does all others, and publishes it here alone', async () => {
      await stack.expectConfined([...services, 'prometheus']);
      const ports = await stack.inspected<object>('.HostConfig.PortBindings', 'prometheus');
      expect(ports).toEqual([{ '9090/tcp': [expect.objectContaining({ HostIp: '127.0.0.1' })] }]);
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
      const file = relayFile.replace('name: relay', 'name: counted');
      const message = { recipient: 'writer', body: 'Count this.' };
      expect(await stack.api('POST', '/projects', { file, start: true, message })).toMatchObject({ status: 201 });
      const turns = async () =>
        ((await stack.api('GET', '/projects/counted/turns')).body as Listed<{ status: string }>).items;
      // The writer's, and that of the lead to whom it writes.
      await eventually('both turns have ended', async () => {
        const ended = (await turns()).filter(({ status }) => status === 'completed');
        return ended.length === 2;
      });
      const wanted = {
        up: { api: 1, scheduler: 1, toolhost: 1, 'turn-worker': 3 },
        ready: { 'turn-worker': 3 },
        completed: { '': 2 },
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
      const [networks] = await stack.inspected<object>('.NetworkSettings.Networks', 'redis');
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
        const found = await stack.inspected<{ Id: string; Config: { Labels: Record<string, string> } }>('.');
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
          const [state] = await stack.inspected<{ RestartCount: number; State: { Health: { Status: string } } }>(
            '.',
            'toolhost',
          );
          return state?.RestartCount === 1 && state.State.Health.Status === 'healthy';
        });
      });

      test('until it is stopped, with its data in good order and no secret in any log', () =>
        stack.expectSound(['counted', 'relay']));
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
