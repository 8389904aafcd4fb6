import { describe, expect, test } from '@jest/globals';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { compareConfigs, type LivingFacts } from '@suzumio/core/config/compare-configs';
import { loadProjectText } from '@suzumio/core/profiles/load-project';

const base = `
name: team
task: Do the work.
channels: ["#team", { name: "#pair", members: [ada, ben] }]
backend:
  runner:
    mode: ai
    model: small
    models:
      providers: { p: { type: openai-compatible, baseURL: "http://127.0.0.1:1", headers: { x-key: first } } }
      presets: { small: { provider: p, model: s }, large: { provider: p, model: l } }
tools: { toolpacks: [core, files] }
git: { shared: true, maintainers: [ada] }
agents:
  ada: { role: writer, prompt: Write., tools: [messages.send, "artifacts.*"], env: { KEY: one } }
  ben: { role: reader, prompt: Read., tools: ["*"], workspace: { git: "https://git.test/a", ref: main } }
  eve: { role: outside, prompt: Wait., tools: ["*"], backend: external }
`;

const load = (text: string): ProjectConfig => loadProjectText(text, 'test.yaml').config;
const before = load(base);
const compare = (from: string, to: string, facts?: LivingFacts) => {
  const changed = base.replace(from, to);
  expect(changed).not.toBe(base);
  return compareConfigs(before, load(changed), facts);
};
const effects = (from: string, to: string, facts?: LivingFacts) =>
  compare(from, to, facts).map(({ path, effect }) => `${path} ${effect}`);

describe('two versions of a project file', () => {
  test('that say the same do not differ, whatever the order and the comments', () => {
    expect(compareConfigs(before, load(`# A comment.\n${base}`))).toEqual([]);
  });

  test.each([
    ['task: Do the work.', 'task: Do it.', 'task next-turn'],
    ['prompt: Write.', 'prompt: Write well.', 'agents.ada.prompt next-turn'],
    ['model: small\n', 'model: large\n', 'backend.runner.model next-turn'],
    ['model: s }', 'model: s2 }', 'backend.runner.models.presets.small.model next-turn'],
    ['x-key: first', 'x-key: second', 'backend.runner.models.providers.p.headers.x-key next-turn'],
    ['KEY: one', 'KEY: two', 'agents.ada.env.KEY next-turn'],
    ['tools: [messages.send, "artifacts.*"]', 'tools: ["artifacts.*"]', 'agents.ada.tools at-once'],
    ['tools: [messages.send, "artifacts.*"]', 'tools: ["*"]', 'agents.ada.tools next-turn'],
    ['toolpacks: [core, files]', 'toolpacks: [core]', 'tools.toolpacks.files at-once'],
    ['toolpacks: [core, files]', 'toolpacks: [core, files, shell]', 'tools.toolpacks.shell next-turn'],
    ['agents:\n', 'budget: { turns: 5 }\nagents:\n', 'budget at-once'],
    ['role: writer,', 'role: writer, budget: { tokens: 9 },', 'agents.ada.budget at-once'],
    ['role: writer,', 'role: writer, displayName: Ada,', 'agents.ada.displayName at-once'],
    ['members: [ada, ben]', 'members: [ada]', 'channels.#pair at-once'],
    ['"#team", ', '', 'channels.#team at-once'],
    ['shared: true', 'shared: false', 'git.shared at-once'],
    ['maintainers: [ada]', 'maintainers: [ben]', 'git.maintainers at-once'],
    ['maintainers: [ada]', 'maintainers: [ada, ben]', 'git.maintainers next-turn'],
    ['ref: main', 'ref: next', 'agents.ben.workspace.ref next-turn'],
    ['git.test/a', 'git.test/b', 'agents.ben.workspace.git refused'],
    ['name: team', 'name: other', 'name refused'],
    ['backend: external', 'backend: process', 'agents.eve.backend refused'],
    ['role: reader,', 'role: reader, backend: process,', 'agents.ben.backend next-turn'],
    ['agents:\n', 'observability: { http: { port: 1234 } }\nagents:\n', 'observability.http.port next-start'],
  ])('%j -> %j', (from, to, wanted) => {
    expect(effects(from, to)).toContain(wanted);
  });

  test('tell which files of a toolpack differ, and when that counts', () => {
    const file = (path: string, sha256: string) => ({ path, sizeBytes: sha256.length, sha256 });
    const tool = (name: string, description = '') => ({ name, description, inputSchema: {} });
    const withPack = (files: ReturnType<typeof file>[], tools: ReturnType<typeof tool>[]): ProjectConfig => {
      const taken = { directory: '/own', sha256: JSON.stringify(files), files, tools };
      return { ...before, tools: { toolpacks: ['core', 'files', { id: 'own', path: '/own', taken }] } };
    };
    const first = withPack([file('lib/a.mjs', 'a'), file('runner.mjs', 'r')], [tool('own.a'), tool('own.b')]);
    const next = withPack([file('b.mjs', 'b'), file('runner.mjs', 'rr')], [tool('own.a', 'More.')]);
    const told = (from: ProjectConfig, to: ProjectConfig) =>
      compareConfigs(from, to).map((change) => [
        change.path.replace('tools.toolpacks.', ''),
        change.before,
        change.after,
        change.effect,
      ]);
    expect(told(first, first)).toEqual([]);
    expect(told(first, next)).toEqual([
      ['own.tools.own.a', '', 'More.', 'next-turn'],
      ['own.tools.own.b', '', null, 'at-once'],
      ['own.files.lib/a.mjs', '1 B, sha256 a', null, 'next-turn'],
      ['own.files.runner.mjs', '1 B, sha256 r', '2 B, sha256 rr', 'next-turn'],
      ['own.files.b.mjs', null, '1 B, sha256 b', 'next-turn'],
    ]);
    expect(told(before, next)).toMatchObject([['own', null, { path: '/own', directory: '/own' }, 'next-turn']]);
    expect(told(next, before)).toMatchObject([['own', expect.anything(), null, 'at-once']]);
  });

  test('know an agent, and a file, by a name that every object has', () => {
    expect(effects('  ada: {', '  constructor: { role: r, prompt: p }\n  ada: {')).toContain(
      'agents.constructor at-once',
    );
    expect(compare('  ada: {', '  constructor: { role: r, prompt: p }\n  ada: {')).toContainEqual(
      expect.objectContaining({
        path: 'agents.constructor',
        before: null,
        reason: 'constructor is new, and quiet until it gets mail.',
      }),
    );
  });

  test('tell no value of a variable or a header', () => {
    const told = [...compare('KEY: one', 'KEY: two'), ...compare('x-key: first', 'x-key: second')];
    expect(told.map(({ before: was, after }) => [was, after])).toEqual([
      ['(hidden)', '(hidden)'],
      ['(hidden)', '(hidden)'],
    ]);
    expect(
      JSON.stringify(compare('  ada: {', '  zoe: { role: r, prompt: p, env: { TOKEN: secret } }\n  ada: {')),
    ).not.toMatch(/secret/);
  });

  test('say what is lost, and not what another pattern still allows', () => {
    const [change] = compare('tools: [messages.send, "artifacts.*"]', 'tools: ["messages.*"]');
    expect(change?.reason).toBe(
      'Refused from now on, in a turn that runs, too: artifacts.publish, artifacts.list, artifacts.read.',
    );
  });

  test('have one change for an agent that comes, and one for an agent that goes', () => {
    const came = effects('  ada: {', '  zoe: { role: r, prompt: p }\n  ada: {');
    expect(came).toEqual(expect.arrayContaining(['agents.zoe at-once', 'channels.#team at-once']));
    expect(came.filter((line) => line.startsWith('agents.zoe'))).toHaveLength(1);
    // Nothing that nobody writes.
    expect(compare('  ada: {', '  zoe: { role: r, prompt: p }\n  ada: {').map(({ after }) => after)).toContainEqual({
      role: 'r',
      prompt: 'p',
      tools: [],
    });
    expect(effects('  eve: { role: outside, prompt: Wait., tools: ["*"], backend: external }\n', '')).toEqual(
      expect.arrayContaining(['agents.eve at-once', 'channels.#team at-once']),
    );
  });

  test('bring back an agent that was retired, and no other one by its id', () => {
    const { ben } = before.agents;
    if (!ben) throw new Error('there is no ben');
    const without = { ...before, agents: { ada: before.agents['ada'] ?? ben } };
    const facts: LivingFacts = { former: { ben }, withoutFiles: new Set() };
    const back = (agent: typeof ben) =>
      compareConfigs(without, { ...without, agents: { ...without.agents, ben: agent } }, facts).map(
        ({ path, effect }) => `${path} ${effect}`,
      );
    expect(back({ ...ben, prompt: 'Read more.' })).toEqual(['agents.ben at-once']);
    expect(back({ ...ben, backend: 'external' })).toEqual(['agents.ben refused']);
    expect(back({ ...ben, profile: 'someone' })).toEqual(['agents.ben refused']);
  });

  test('let an agent that has no files yet begin with others', () => {
    const facts: LivingFacts = { former: {}, withoutFiles: new Set(['ben']) };
    expect(effects('git.test/a', 'git.test/b', facts)).toEqual(['agents.ben.workspace.git next-turn']);
    expect(effects('{ git: "https://git.test/a", ref: main }', '{ from: /srv/x }', facts)).toEqual(
      expect.arrayContaining(['agents.ben.workspace.from refused']),
    );
  });
});
