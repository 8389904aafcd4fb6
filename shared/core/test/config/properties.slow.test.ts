import { expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { ConfigErrors } from '@suzumio/core/config/config-problem';
import { escapeEnvironment } from '@suzumio/core/config/environment';
import { escapeImport } from '@suzumio/core/config/import-marker';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { renderConfig } from '@suzumio/core/config/render-config';
import { projectConfig } from '@suzumio/contract/model/project-config';
import fc, { caseCount } from '../../../../test/support/fast-check.js';
import { anyText } from '../../../../test/support/any-text.js';
import { load, minimal } from './project-files.js';

/** Texts with what YAML, the loader and the renderer treat as special. */
const nastyText = fc
  .array(
    fc.oneof(
      anyText(5),
      fc.constantFrom(
        '${A}',
        '$${A}',
        '$',
        '{',
        '}',
        '@',
        '@import(x)',
        '@@import(x)',
        '\n',
        '\r',
        '\r\n',
        '\t',
        ' ',
        '  ',
      ),
      fc.constantFrom(
        '#',
        ': ',
        '- ',
        '"',
        "'",
        '|',
        '>',
        '\\',
        '\0',
        '\u0085',
        '\u2028',
        '\uFEFF',
        '---',
        '...',
        '!a',
        '&a',
        '*a',
      ),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));
const said = nastyText.filter((text) => /\S/.test(text));

const sourceFile = fc.record(
  {
    name: fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,20}$/),
    task: said,
    channels: fc.uniqueArray(fc.stringMatching(/^#[a-z]{1,5}$/), { maxLength: 3 }),
    turn: fc.record(
      {
        timeout: fc.oneof(fc.integer({ min: 1, max: 1e6 }), fc.constantFrom('5s', '1h')),
        maxAttempts: fc.integer({ min: 1, max: 9 }),
      },
      { requiredKeys: [] },
    ),
    backend: fc.record({
      docker: fc.record(
        { memory: fc.constantFrom('64m', '1g', 123_456_789), cpus: fc.double({ min: 0.01, max: 64, noNaN: true }) },
        { requiredKeys: [] },
      ),
      runner: fc.record({
        mode: fc.constant('mock'),
        script: fc.array(
          fc.record({
            agent: fc.constant('a'),
            steps: fc.array(
              fc.oneof(
                nastyText.map((text) => ({ text })),
                fc.record({
                  tool: fc.constant('messages.send'),
                  input: fc.dictionary(
                    nastyText.filter((key) => key !== '__proto__' && key !== '<<'),
                    nastyText,
                    { maxKeys: 3 },
                  ),
                }),
              ),
              { maxLength: 3 },
            ),
          }),
          { maxLength: 2 },
        ),
      }),
    }),
    agents: fc.record({
      a: fc.record(
        { role: fc.constant('r'), prompt: said, count: fc.integer({ min: 1, max: 3 }) },
        { requiredKeys: ['role', 'prompt'] },
      ),
    }),
  },
  { requiredKeys: ['name', 'task', 'agents'] },
);

/** Writes a text as a file's author has to: what would be a variable or an import is escaped. */
function asWritten(value: unknown): unknown {
  if (typeof value === 'string') return escapeImport(escapeEnvironment(value));
  if (Array.isArray(value)) return value.map(asWritten);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asWritten(item)]));
}

test('rendering what was loaded, and loading what was rendered, change nothing', () => {
  fc.assert(
    fc.property(sourceFile, (source) => {
      const text = stringify(asWritten(source), { defaultStringType: 'QUOTE_DOUBLE' });
      const { config } = loadProjectText(text, 'source.yaml');
      expect(config.task).toBe(source.task);
      const rendered = renderConfig(config);
      const again = loadProjectText(rendered, 'rendered.yaml').config;
      expect(again).toEqual(config);
      expect(renderConfig(again)).toBe(rendered);
    }),
    { numRuns: caseCount(100) },
  );
});

test('every text of spaces and line breaks survives being rendered', () => {
  const base = load(minimal()).config;
  const texts = ['x'];
  for (const text of texts) if (text.length < 5) texts.push(...[' ', '\n', 'x'].map((letter) => letter + text));
  const ended = texts.flatMap((text) => [text, text.replace(/x$/, ' '), text.replace(/x$/, '\n')]);
  const steps = ended.map((text) => ({ text }));
  const runner = { ...base.backend.runner, script: [{ agent: 'editor', steps }] };
  const config = { ...base, backend: { ...base.backend, runner } };
  expect(loadProjectText(renderConfig(config), 'rendered.yaml').config).toEqual(config);
});

test('a rendered file loads from disk to the same config in any environment', () => {
  const base = load(minimal()).config;
  fc.assert(
    fc.property(said, (task) => {
      const config = { ...base, task };
      expect(load(renderConfig(config), { A: 'changed' }).config).toEqual(config);
      expect(projectConfig.parse(config)).toEqual(config);
    }),
    { numRuns: caseCount(50) },
  );
});

const yamlish = fc.oneof(
  nastyText,
  fc
    .array(
      fc.oneof(
        nastyText,
        fc.constantFrom('name:', 'agents:', 'a: {', '}', '[', ']', '\n  ', '\n', '- ', 'rendered: 1\n'),
      ),
      { maxLength: 30 },
    )
    .map((parts) => parts.join('')),
  fc.tuple(fc.nat(), nastyText).map(([at, text]) => {
    const file = minimal('channels: ["#a"]\nturn: { timeout: 5s }\n');
    const index = at % file.length;
    return file.slice(0, index) + text + file.slice(index);
  }),
  fc.anything({ withNullPrototype: false }).map((value) => {
    try {
      return stringify({
        name: 'demo',
        task: value,
        agents: value,
        backend: { runner: { script: value } },
        channels: value,
      });
    } catch {
      return '';
    }
  }),
);

test('no text makes the loader throw anything but the one typed error, with places in the file', () => {
  const load = (text: string) => {
    try {
      loadProjectText(text, 'any.yaml');
    } catch (error) {
      if (!(error instanceof ConfigErrors)) throw error;
      expect(error.problems.length).toBeGreaterThan(0);
      const lines = text.split('\n').length;
      for (const problem of error.problems) {
        expect(problem.line).toBeGreaterThanOrEqual(1);
        expect(problem.line).toBeLessThanOrEqual(lines + 1);
        expect(problem.column).toBeGreaterThanOrEqual(1);
      }
    }
  };
  fc.assert(fc.property(yamlish, load), { numRuns: caseCount(300) });
});
