import { expect, test } from '@jest/globals';
import { withoutSecretValues } from '@suzumio/core/config/agent-env';
import { hiddenFields, withValuesOf } from '@suzumio/core/config/hidden-values';
import { loadProjectText } from '@suzumio/core/profiles/load-project';

const { config } = loadProjectText(
  `name: team
task: t
backend:
  runner:
    mode: ai
    model: m
    models:
      providers: { p: { type: openai-compatible, baseURL: "http://127.0.0.1:1", headers: { x-key: h } } }
      presets: { m: { provider: p, model: m, headers: { x-key: i } }, all: { model-list: [m] } }
agents:
  ada: { role: r, prompt: p, env: { KEY: v, OTHER: w } }
`,
  'test.yaml',
);

test('a file as it is shown has the values back where they are known', () => {
  const shown = withoutSecretValues(config);
  expect(hiddenFields(shown)).toEqual([
    'agents.ada.env.KEY',
    'agents.ada.env.OTHER',
    'backend.runner.models.providers.p.headers.x-key',
    'backend.runner.models.presets.m.headers.x-key',
  ]);
  expect(withValuesOf(config, shown)).toEqual(config);
});

test('a value that is not known stays hidden, and one that is written counts', () => {
  const ada = config.agents['ada'];
  if (!ada) throw new Error('there is no ada');
  const asked = { ...config, agents: { ada: { ...ada, env: { KEY: 'new', MORE: '(hidden)' } } } };
  const filled = withValuesOf(config, asked);
  expect(filled.agents['ada']?.env).toEqual({ KEY: 'new', MORE: '(hidden)' });
  expect(hiddenFields(filled)).toEqual(['agents.ada.env.MORE']);
});
