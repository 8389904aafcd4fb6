import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from './support/poll.js';
import { ComposeStack, finished, type Listed, relay } from './support/compose.js';
import { brokenInvariants, openProject } from './support/project.js';

const skipped = (process.env['SUZUMIO_TEST_SKIP'] ?? '').split(',');

(skipped.includes('docker') || skipped.includes('compose') ? describe.skip : describe)('a stack', () => {
  let directory: string;
  let stack: ComposeStack;

  beforeAll(async () => {
    stack = await ComposeStack.create();
    ({ directory } = stack);
    await stack.run('--no-build', '--scale', 'turn-worker=2');
  });
  afterAll(() => stack.remove());

  /** A block of the documentation, for this stack's settings in the place of those of the clone. */
  function documented(first: string): string {
    const page = readFileSync(new URL('../docs/deployment.md', import.meta.url), 'utf8');
    const from = page.indexOf('## Backups');
    const block = /^```sh\n([^`]*)^```/m.exec(page.slice(page.indexOf(`\`\`\`sh\n${first}`, from)))?.[1] ?? '';
    const project = stack.settings['COMPOSE_PROJECT_NAME'] ?? '';
    return block
      .replaceAll('docker-compose', `docker-compose --env-file ${stack.file} --project-name ${project}`)
      .replaceAll('npm run stack', `npm run --silent stack -- --no-build --settings ${stack.file}`)
      .replaceAll('$PWD/backup', join(directory, 'backup'))
      .replaceAll('" backup', `" ${join(directory, 'backup')}`)
      .replaceAll('--root backup', `--root ${join(directory, 'backup')}`);
  }

  /** As somebody whose shell knows the stack. */
  const run = async (script: string) => {
    const { code, out, err } = await finished('sh', ['-ec', script], await stack.environment());
    if (code !== 0) throw new Error(`${script}\nended with ${String(code)}:\n${out}${err}`);
    return out;
  };

  const passedOn = async (body: string) => {
    expect((await stack.api('POST', '/projects/relay/messages', { recipient: 'writer', body })).status).toBe(201);
    await eventually('it was passed on', async () => {
      const { items } = (await stack.api('GET', '/projects/relay/messages?limit=200')).body as Listed<{
        sender: string;
        body: string;
      }>;
      return items.some((message) => message.sender === 'writer' && message.body === body);
    });
  };
  const firstEvent = async () =>
    ((await stack.api('GET', '/projects/relay/events?limit=1&after=0')).body as Listed<{ id: string }>).items[0]?.id;

  test('that was backed up as documented is restored as documented, on a machine where nothing is', async () => {
    expect(await stack.api('POST', '/projects', { file: relay('300ms'), start: true })).toMatchObject({ status: 201 });
    await passedOn('Before the backup.');
    expect(await firstEvent()).toBe('1-1');
    expect(await run(documented('docker-compose stop'))).toContain('All is whole.');
    expect(await stack.containers('turn-worker')).toHaveLength(2);
    await passedOn('After the backup.');

    await stack.run('down', '--volumes');
    await stack.removeWorkspaces();
    await rm(join(directory, 'worker'), { recursive: true });
    await run(documented('npm run stack\ndocker-compose stop'));
    expect(await stack.containers('turn-worker')).toHaveLength(2);
    const { items } = (await stack.api('GET', '/projects/relay/messages?limit=200')).body as Listed<{ body: string }>;
    expect(new Set(items.map(({ body }) => body))).toEqual(new Set(['Before the backup.']));
    await passedOn('After it was restored.');
    expect(await firstEvent()).toMatch(/^[1-9]\d{5,8}-1$/);
    const events = (await stack.api('GET', '/projects/relay/events?limit=200&after=0')).body as Listed<{
      type: string;
    }>;
    expect(events.items.filter(({ type }) => type === 'project.restored')).toHaveLength(1);
    const logs = await stack.run('logs');
    expect(logs).toContain('this data directory is a copy');
    expect(logs).not.toMatch(/SQLITE_|EACCES/);

    // What has become of it is as whole as what it came from.
    await rm(join(directory, 'backup'), { recursive: true });
    await run(documented('docker-compose stop'));
    const project = openProject(join(directory, 'backup'), 'relay');
    try {
      expect(brokenInvariants(project)).toEqual([]);
    } finally {
      project.close();
    }
  });
});
