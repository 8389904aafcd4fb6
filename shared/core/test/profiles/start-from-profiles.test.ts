import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { loadProjectFile, readProjectFile } from '@suzumio/runtime/disk/load-project-file';
import { renderConfig } from '@suzumio/core/config/render-config';
import { formatProblem } from '@suzumio/core/config/config-problem';
import type { ProfileView } from '@suzumio/contract/model/profile';
import type { ProfileRegistry } from '@suzumio/core/profiles/registry';
import { type Found, problemsIn, withFiles } from '../config/project-files.js';

const akari: ProfileView = {
  id: '0f2d7c1e-6f0a-4c55-9d4b-7f0a5b1c2d3e',
  nickname: 'Akari',
  role: 'researcher',
  team: 'research',
  model: 'quick',
  persona: '{{agent.nickname}} ({{agent.id}}) is a {{agent.role}} of {{team}} in {{project.name}}.\n{{ project.task }}',
  skills: [{ name: 'sources.md', text: 'Cite two.' }],
  createdAt: '2026-11-01T00:00:00.000Z',
  updatedAt: '2026-11-01T00:00:00.000Z',
  version: 1,
  editedBy: null,
  retiredAt: null,
};
const mio = {
  ...akari,
  id: '1f2d7c1e-6f0a-4c55-9d4b-7f0a5b1c2d3e',
  nickname: 'Mio',
  team: null,
  model: null,
  skills: [],
};
const old = { ...mio, id: '2f2d7c1e-6f0a-4c55-9d4b-7f0a5b1c2d3e', nickname: 'Old', retiredAt: akari.createdAt };

const registry = (...profiles: ProfileView[]): ProfileRegistry => ({
  find: (name) => profiles.find(({ id, nickname }) => [id, nickname].includes(name)),
  nicknames: () => profiles.filter(({ retiredAt }) => retiredAt === null).map(({ nickname }) => nickname),
});
const profiles = registry(akari, mio, old);

const file = (agents: string, runner = 'mode: mock') =>
  `name: demo\ntask: Do it.\nbackend: { runner: { ${runner} } }\nagents:\n${agents}`;
const load = (agents: string, runner?: string) => loadProjectText(file(agents, runner), 'file', { profiles });
const problems = (agents: string) => problemsIn(() => load(agents)).map(brief);
const brief = ({ code, line, column, message }: Found) => [code, `${String(line)}:${String(column)}`, message];

describe('an agent that starts from a profile', () => {
  test.each(['Akari', akari.id])('has what that says of it: %s', (name) => {
    expect(load(`  one: { profile: ${name} }\n`).config.agents['one']).toEqual({
      base: 'one',
      role: 'researcher',
      prompt: 'Akari (one) is a researcher of research in demo.\nDo it.',
      displayName: 'Akari',
      team: 'research',
      skills: [{ name: 'sources.md', text: 'Cite two.' }],
      tools: [],
      profile: akari.id,
    });
  });

  test('has what the file says instead', () => {
    const own = 'role: writer, prompt: "Write, {{team}}.", displayName: Aki, team: news, skills: [], model: slow';
    const models =
      'providers: { p: { type: openai-compatible, baseURL: "http://a" } }, presets: { slow: { provider: p, model: m } }';
    expect(
      load(`  one: { profile: Akari, ${own} }\n`, `mode: ai, models: { ${models} }`).config.agents['one'],
    ).toMatchObject({
      role: 'writer',
      prompt: 'Write, {{team}}.',
      displayName: 'Aki',
      team: 'news',
      skills: [],
      model: 'slow',
    });
  });

  test('thinks with the model that it prefers where the project has it, else with the project’s own', () => {
    const models = (preset: string) =>
      `mode: ai, model: ${preset}, models: { providers: { p: { type: openai-compatible, baseURL: "http://a" } }, presets: { ${preset}: { provider: p, model: m } } }`;
    expect(load('  one: { profile: Akari }\n', models('quick')).config.agents['one']?.model).toBe('quick');
    const { config, warnings } = load('  one: { profile: Akari }\n', models('other'));
    expect(config.agents['one']).not.toHaveProperty('model');
    expect(warnings.map(formatProblem)).toEqual([
      'file:5:19  Akari prefers the preset "quick", and this project has none of that name: its own model is used',
    ]);
  });

  test('is told of a team only where it has one', () => {
    expect(load('  one: { profile: Mio }\n').config.agents['one']?.prompt).toContain('researcher of none in demo');
  });

  test('is loaded as the same again from what it became', () => {
    const { config } = load('  one: { profile: Akari }\n  two: { role: r, prompt: p }\n');
    expect(loadProjectText(renderConfig(config), 'file', { profiles }).config).toEqual(config);
  });
});

test('what a variable stands for is text: variables in it stay as they are', () => {
  const text = `name: demo\ntask: "About {{agent.id}} and $& $1 \`\${x}\`."\nbackend: { runner: { mode: mock } }\nagents: { one: { profile: Akari } }\n`;
  const { config } = withFiles({ 'p.yaml': text.replace('${x}', () => '$${x}') }, (directory) =>
    loadProjectFile(join(directory, 'p.yaml'), { env: {}, profiles }),
  );
  expect(config.agents['one']?.prompt).toMatch(/About \{\{agent\.id\}\} and \$& \$1 `\$\{x\}`\.$/);
});

describe('refused with its place', () => {
  test('a profile that nobody registered', () => {
    expect(problems('  one: { profile: Akair }\n')).toEqual([
      ['profile-unknown', '5:19', 'unknown profile "Akair": did you mean Akari?'],
    ]);
  });

  test('a profile that is retired', () => {
    expect(problems('  one:\n    profile: Old\n')).toEqual([
      ['profile-retired', '6:14', 'the profile Old is retired: start from another'],
    ]);
  });

  test('one profile for two agents, and for those of a counted entry', () => {
    expect(problems('  one: { profile: Akari }\n  two: { profile: Akari }\n')).toMatchObject([
      [
        'profile-duplicate',
        '6:19',
        'agents one and two start from one profile, Akari: there is one of each in a project',
      ],
    ]);
    expect(problems('  one: { profile: Akari, count: 2 }\n').map(([code]) => code)).toContain('profile-duplicate');
  });

  test('a nickname that is the name of somebody else', () => {
    const named = '  two: { role: r, prompt: p, displayName: Akari }\n';
    expect(problems(`  one: { profile: Akari }\n${named}`)).toEqual([
      ['profile-name-clash', '5:19', 'Akari is the name of agent two, too: give one of them another displayName'],
    ]);
    expect(load(`  one: { profile: Akari, displayName: Aki }\n${named}`).config.agents['one']?.displayName).toBe('Aki');
  });

  test('every member of a team, where no team is brought up', () => {
    expect(problems('  one: { profile: "*" }\n').map(([code]) => code)).toEqual(['profile-unknown']);
  });

  test('profiles that together come to more than a project may have', () => {
    const large = Array.from({ length: 40 }, (_, index) => ({
      ...akari,
      id: `3f2d7c1e-6f0a-4c55-9d4b-7f0a5b1c2d${String(index).padStart(2, '0')}`,
      nickname: `A${String(index)}`,
      skills: [1, 2, 3, 4].map((n) => ({ name: String(n), text: 'x'.repeat(60 * 1024) })),
    }));
    const agents = large.map(({ nickname }) => `  ${nickname.toLowerCase()}: { profile: ${nickname} }\n`).join('');
    expect(
      problemsIn(() => loadProjectText(file(agents), 'file', { profiles: registry(...large) })).map(({ code }) => code),
    ).toEqual(['too-large']);
  });
});

test('a persona that would come to more than a project may have is not filled', () => {
  const persona = '{{project.task}}'.repeat(4_000);
  const text = file('  one: { profile: Akari }\n').replace(/^task: .*$/m, `task: ${'x'.repeat(200_000)}`);
  expect(
    problemsIn(() => loadProjectText(text, 'file', { profiles: registry({ ...akari, persona }) })).map(
      ({ code }) => code,
    ),
  ).toEqual(['too-large']);
});

test('a file is rendered with the profiles that it names: they are where it will be used', () => {
  const text = file('  one: { profile: Nobody, skills: [how.md] }\n');
  const rendered = withFiles({ 'p.yaml': text, 'how.md': 'Ask ${first}, @import(x).\n' }, (directory) =>
    renderConfig(readProjectFile(join(directory, 'p.yaml'), { env: {} }).config),
  );
  expect(rendered).toContain('profile: Nobody');
  const posted = loadProjectText(rendered, 'file', { profiles: registry({ ...akari, nickname: 'Nobody' }) });
  expect(posted.config.agents['one']).toMatchObject({
    displayName: 'Nobody',
    skills: [{ name: 'how.md', text: 'Ask ${first}, @import(x).\n' }],
  });
});
