import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { readProjectText } from '@suzumio/core/config/read-project';
import { personaVariables } from '@suzumio/core/profiles/persona';
import { withMembers } from '@suzumio/core/profiles/with-members';
import { type Found, problemsIn } from '../config/project-files.js';

const members = ['Akari', 'Mio', 'Ren'].map((nickname, index) => ({ id: `id-${String(index)}`, nickname, role: 'r' }));
const file = (agents: string, more = '') =>
  `name: desk\ntask: Answer.\nbackend: { runner: { mode: mock } }\n${more}agents:\n${agents}`;
const fill = (agents: string, more?: string) => withMembers(readProjectText(file(agents, more), 'file'), members);
const place = ({ code, line, column }: Found) => `${code} ${String(line)}:${String(column)}`;
const problems = (agents: string) => problemsIn(() => fill(agents)).map(place);

describe('the entry that stands for all members', () => {
  test('becomes one agent for each whom no other entry names, by nickname or id', () => {
    const { agents } = fill(
      '  lead: { profile: Mio }\n  other: { profile: id-2 }\n  member: { profile: "*", tools: ["*"] }\n',
    ).config;
    expect(Object.entries(agents).map(([id, { base, profile, tools }]) => [id, base, profile, tools])).toEqual([
      ['lead', 'lead', 'Mio', []],
      ['other', 'other', 'id-2', []],
      ['member-1', 'member', 'Akari', ['*']],
    ]);
  });

  test('stands for them in channels, too', () => {
    const channels = 'channels: ["#all", { name: "#some", members: [member] }, { name: "#lead", members: [lead] }]\n';
    const { config } = fill('  lead: { role: r, prompt: p }\n  member: { profile: "*" }\n', channels);
    expect(config.channels).toEqual([
      { name: '#all', members: ['lead', 'member-1', 'member-2', 'member-3'] },
      { name: '#some', members: ['member-1', 'member-2', 'member-3'] },
      { name: '#lead', members: ['lead'] },
    ]);
  });

  test('keeps the ids of members that a project has, and gives nobody the id of another', () => {
    const ids = new Map([
      ['member-1', 'id-2'],
      ['member-2', 'gone'],
      ['lead', null],
    ]);
    const { agents } = withMembers(readProjectText(file('  member: { profile: "*" }\n'), 'file'), members, ids).config;
    expect(Object.entries(agents).map(([id, { profile }]) => [id, profile])).toEqual([
      ['member-3', 'Akari'],
      ['member-4', 'Mio'],
      ['member-1', 'Ren'],
    ]);
  });

  test('is where their problems are', () => {
    const { line, column } = fill('  member: { profile: "*" }\n').locate(['agents', 'member-2', 'profile']);
    expect([line, column]).toEqual([5, 22]);
  });

  test('is one, and takes nobody’s id', () => {
    expect(problems('  a: { profile: "*" }\n  b: { profile: "*" }\n')).toEqual(['profile-duplicate 6:17']);
    expect(problems('  a: { profile: "*", count: 2 }\n')).toEqual(['profile-duplicate 5:17']);
    expect(problems('  a: { profile: "*" }\n  a-2: { role: r, prompt: p }\n')).toEqual(['agent-duplicate 6:3']);
  });
});

describe('docs/profiles.md', () => {
  const page = readFileSync(new URL('../../../../docs/profiles.md', import.meta.url), 'utf8');

  test('has files that can be read', () => {
    const blocks = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, block = '']) => block);
    expect(blocks).toHaveLength(2);
    for (const block of blocks) {
      const text = block.startsWith('agents:') ? `name: demo\ntask: t\n${block}` : block;
      expect(Object.keys(withMembers(readProjectText(text, 'file'), members).config.agents).length).toBeGreaterThan(0);
    }
  });

  test('names every variable of a persona', () => {
    const named = [...page.matchAll(/^\| `([\w.]+)` +\|/gm)].map(([, name]) => name);
    expect(named).toEqual([...personaVariables]);
  });
});
