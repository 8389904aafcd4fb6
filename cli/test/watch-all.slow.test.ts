import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { teamYaml } from '../../test/support/cell.js';
import { type CliWorld, createCliWorld, printed } from './support/cli.js';

let api: TestApi;
let world: CliWorld;
beforeAll(async () => {
  api = await testApi();
  world = await createCliWorld();
  world.setEnvironment({ SUZUMIO_URL: api.url, SUZUMIO_TOKEN: api.adminToken });
});
afterAll(async () => {
  await world.remove();
  await api.close();
});

test('follows all projects, those that come later too, and says which are gone', async () => {
  const file = (name: string) => teamYaml.replace('name: team', `name: ${name}`);
  await api.post('/api/projects', { file: file('north'), labels: { area: 'north' } });
  await api.post('/api/projects', { file: file('south') });
  const all = world.begin('watch', '--all', '--limit', '1');
  const some = world.begin('watch', '--all', '--label', 'area=north', '--type', 'message.created', '--json');
  await printed(all, 'initialized');
  await world.run('send', 'south', 'ada', 'P1', 'From the south.');
  await world.run('send', 'north', 'ada', 'P1', 'From the north.');
  await api.post('/api/projects', { file: file('west') });
  await printed(all, '\nwest ');
  await world.run('delete', 'south', '--yes');
  await printed(all, '-- south was deleted');
  await printed(some, 'From the north.');
  all.interrupt();
  some.interrupt();
  await Promise.all([all.ended, some.ended]);
  expect(all.out).toMatch(/^south +\d.*From the south\."$/m);
  const events = some.out
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  expect(events).toMatchObject([{ project: 'north', type: 'message.created' }]);
});

test('follows of one project what is asked for', async () => {
  await api.post('/api/projects', { file: teamYaml.replace('name: team', 'name: east') });
  const mail = world.begin('watch', 'east', '--type', 'message.created', '--json');
  const ada = world.begin('watch', 'east', '--agent', 'ada', '--json');
  for (const name of ['ben', 'ada']) {
    await world.run('pause', 'east', name);
    await world.run('send', 'east', name, 'P1', `To ${name}.`);
  }
  await Promise.all([printed(mail, 'To ada.'), printed(ada, 'agent.paused')]);
  mail.interrupt();
  ada.interrupt();
  const typesIn = (out: string) =>
    out
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { type: string }).type);
  expect(typesIn((await mail.ended).out)).toEqual(['message.created', 'message.created']);
  const { out } = await ada.ended;
  expect(typesIn(out)).toContain('agent.paused');
  expect(out).not.toContain('"agent":"ben"');
});

test.each([[['watch']], [['watch', 'north', '--all']], [['watch', 'north', '--label', 'area=north']]])(
  '%j is refused',
  async (args) => {
    expect(await world.run(...args)).toMatchObject({ code: 2 });
  },
);
