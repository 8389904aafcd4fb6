import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ComposeStack } from './support/compose.js';
import { docker } from './support/images.js';

const newsroom = fileURLToPath(new URL('../examples/newsroom/newsroom.yaml', import.meta.url));
const skipped = (process.env['SUZUMIO_TEST_SKIP'] ?? '').split(',');
const services = ['redis', 'api', 'scheduler', 'toolhost', 'turn-worker'] as const;

(skipped.includes('docker') || skipped.includes('compose') ? describe.skip : describe)(
  'the stack of docker-compose.yml',
  () => {
    let stack: ComposeStack;

    beforeAll(async () => {
      stack = await ComposeStack.create();
      await stack.run('--no-build');
    });
    afterAll(() => stack.remove());

    const addresses = async (service: string, port: number) => {
      const networks = await stack.inspected<Record<string, { IPAddress: string }>>(
        '.NetworkSettings.Networks',
        service,
      );
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

    test('gives its containers no more than they need', async () => {
      await stack.expectConfined(services);
      const published = (
        await stack.inspected<Record<string, { HostIp: string }[] | null>>('.NetworkSettings.Ports')
      ).flatMap((ports) =>
        Object.entries(ports).flatMap(([port, bound]) => (bound ?? []).map(({ HostIp: ip }) => `${ip} ${port}`)),
      );
      expect(published.sort()).toEqual(['127.0.0.1 39400/tcp']);
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
      for (const user of await stack.inspected<string>('.Config.User')) expect(user).not.toMatch(/^39\d{7}:/);
    });

    test('is stopped with its data in good order and no secret in any log', async () => {
      await stack.expectSound(['newsroom']);
    });
  },
);
