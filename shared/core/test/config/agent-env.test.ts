import { expect, test } from '@jest/globals';
import { withoutEnvTexts, withoutEnvValues, withoutSecretTexts } from '@suzumio/core/config/agent-env';
import { loadProjectText } from '@suzumio/core/profiles/load-project';

const file = (agents: string) => `name: demo\ntask: t\nbackend: { runner: { mode: mock } }\nagents:\n${agents}`;

test('a file keeps the names of variables, and no value of one', () => {
  const source = file(`  # Reads the database.
  reader: # the first
    role: r
    prompt: "Read env: { A: b }."
    env: { DB_PASSWORD: hunter2, PORT: 5432, FROM_SHELL: "\${DB_PASSWORD}", OTHERWISE: "\${X:-hunter3}" }
  writer: { role: w, prompt: p }
`);
  const kept = withoutEnvTexts(source);
  expect(kept).not.toMatch(/hunter|5432/);
  for (const part of [
    '# Reads the database.',
    '# the first',
    'Read env: { A: b }.',
    'PORT: (hidden)',
    '${DB_PASSWORD}',
  ]) {
    expect(kept).toContain(part);
  }
  expect(withoutEnvTexts(file('  writer: { role: w, prompt: p }\n'))).toBe(file('  writer: { role: w, prompt: p }\n'));
});

test('neither where agents share one map of them', () => {
  const shared = file(
    `  a: { role: r, prompt: p, env: &env { TOKEN: hunter2 } }\n  b: { role: r, prompt: p, env: *env }\n`,
  );
  expect(withoutEnvTexts(shared)).not.toContain('hunter2');
});

test('neither where an agent has them from an object that the file extends', () => {
  const base = '{ agents: { a: { env: { TOKEN: hunter2 } } } }';
  for (const bases of [base, `[${base}]`, `{ extends: ${base} }`]) {
    const kept = withoutEnvTexts(`extends: ${bases}\n${file('  a: { role: r, prompt: p }\n')}`);
    expect([kept.includes('hunter2'), kept.includes('TOKEN: (hidden)')]).toEqual([false, true]);
  }
});

test('all else stays as it was written, to the letter', () => {
  const source = (values: readonly string[]) => `%YAML 1.2
---
name:   demo
task: >-
    Read   env: { A: b }
backend: {runner: {mode: mock, script: @import(script.yaml)}}
agents:
    "a" : {role: r, prompt: @import(a.md), "env":{"ONE" : ${values[0]},TWO:   ${values[1]} }}
    b:
        role: r
        prompt: p
        env:
            TEXT: ${values[2]}
            NUMBER: ${values[3]} # of a port
            PATHS: @@import(kept)
`;
  const given = ['"hunter \\" 2"', "'it''s'", '|-\n                hunter\n\n                2', '0x10'];
  const kept = ['"(hidden)"', "'(hidden)'", '(hidden)', '(hidden)'];
  const hidden = (text: string) => text.replace('@@import(kept)', '(hidden)');
  expect(withoutEnvTexts(source(given))).toBe(hidden(source(kept)));
  expect(withoutEnvTexts(source(given).replaceAll('\n', '\r\n'))).toBe(hidden(source(kept)).replaceAll('\n', '\r\n'));
});

test('a config is the same but for those values', () => {
  const { config } = loadProjectText(file('  a: { role: r, prompt: p, env: { TOKEN: hunter2 } }\n'), 'demo.yaml');
  expect(withoutEnvValues(config)).toEqual({
    ...config,
    agents: { a: { ...config.agents['a'], env: { TOKEN: '(hidden)' } } },
  });
});

test('where it is shown, the values of headers are hidden, too, and nothing else that is named so', () => {
  const source = (key: string, bearer: string) => `name: demo
task: t
tools: { toolpacks: [{ mcp: { url: "https://tools.example", headers: { X-Key: ${key} } } }] }
backend:
  runner:
    mode: ai
    models:
      providers: { p: { type: openai-compatible, headers: { Authorization: ${bearer}, X-Team: "\${TEAM}" } } }
      presets: { m: { provider: p, model: m, headers: { X-Key: ${key} } } }
agents:
  headers: { role: r, prompt: p, env: { TOKEN: (hidden) } }
`;
  expect(withoutSecretTexts(source('k-hunter2', '"Bearer hunter2"'))).toBe(source('(hidden)', '"(hidden)"'));
  expect(withoutEnvTexts(source('k-hunter2', '"Bearer hunter2"'))).toBe(source('k-hunter2', '"Bearer hunter2"'));
});
