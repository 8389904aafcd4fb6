import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as z from 'zod';
import fc from '../support/fast-check.js';
import { ConfigErrors } from '../../shared/core/src/config/config-problem.js';
import { loadProjectText } from '../../shared/core/src/profiles/load-project.js';
import { loadProjectFile } from '../../shared/runtime/src/disk/load-project-file.js';
import type { LoadedProject } from '../../shared/core/src/config/project-source.js';
import { renderConfig } from '../../shared/core/src/config/render-config.js';
import { sourceConfig } from '../../shared/core/src/config/source-schema.js';
import { type Campaign, campaign, computedMs } from './support/campaign.js';
import { type JsonSchema, valuesOf } from './support/json-schema.js';
import { jsonOf, nastyText, spoiled, spoiledText } from './support/nasty.js';

/** A campaign against what runs in this process. */
const inHere = <Case>(name: Campaign, cases: fc.Arbitrary<Case>, judge: (one: Case) => Promise<void> | void) =>
  campaign(name, cases, judge, { clock: computedMs });

const newsroom = new URL('../../examples/newsroom/', import.meta.url);
let example: string;
let script: string;
let directory: string;
beforeAll(async () => {
  example = await readFile(new URL('newsroom.yaml', newsroom), 'utf8');
  script = await readFile(new URL('newsroom.script.yaml', newsroom), 'utf8');
  directory = await mkdtemp(join(tmpdir(), 'suzumio-fuzz-config-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** What YAML and the loader do something special with. */
const special = fc.oneof(
  fc.constantFrom(
    '@import(b.yaml)',
    '@import(a.yaml)',
    '@import(../../../etc/hostname)',
    '@import(/dev/zero)',
    '@import(http://127.0.0.1/)',
    '@@import(x)',
    '${A}',
    '${A:-${A}}',
    '$${A}',
    '&a [*a]',
    '&a ',
    '*a',
    '<<: *a\n',
    '!!js/function "x"',
    '!!binary aGVsbG8=',
    '? [a, b]\n: c\n',
    '%YAML 1.1\n',
    '---\n',
    '...\n',
    '\t',
    '\n  ',
    ': ',
    '- ',
    '|+9\n',
    '>-\n',
    '0o17',
    '.inf',
    '2026-11-22',
    'rendered: 1\n',
    'extends: @import(b.yaml)\n',
    '"\\ud800"',
    '['.repeat(80),
    '- '.repeat(100),
    '{a: '.repeat(70),
    '[*a, *a, *a, *a, *a, *a, *a, *a]',
  ),
  nastyText,
);

const schema = z.toJSONSchema(sourceConfig, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
const named = (schema['$defs'] ?? {}) as Record<string, JsonSchema>;
const known = {
  name: fc.constantFrom('demo', 'a'),
  task: fc.constantFrom('Do it.', 'x'),
  prompt: fc.constant('Work.'),
  role: fc.constant('worker'),
};

/** A file made of what the schema says, with something wrong in places. JSON is YAML, too. */
const made = spoiled(valuesOf(schema, known, named)).map(jsonOf);

function judge(load: () => LoadedProject): void {
  let loaded: LoadedProject;
  try {
    loaded = load();
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    expect(error.problems.length).toBeGreaterThan(0);
    for (const { line, column } of error.problems) expect(line >= 1 && column >= 1).toBe(true);
    return;
  }
  // What was taken is taken again, and is the same.
  const rendered = renderConfig(loaded.config);
  expect(loadProjectText(rendered, 'rendered.yaml').config).toEqual(loaded.config);
}

test('no posted text is more to the loader than refused or loaded', async () => {
  const posted = example.replace(/script: .*/, 'script: []').replace('from: readings', 'from: /srv/readings');
  const texts = fc.oneof(
    { arbitrary: spoiledText(fc.constant(posted), special), weight: 3 },
    { arbitrary: made, weight: 3 },
    fc.array(special, { maxLength: 12 }).map((parts) => parts.join('')),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('utf8')),
    // A line many times.
    fc.tuple(special, fc.constantFrom(50, 2_000)).map(([line, times]) => `${line}\n`.repeat(times)),
  );
  await inHere('config texts', texts, (text) => judge(() => loadProjectText(text, 'posted.yaml')));
});

test('no file and no import is more to the loader than refused or loaded', async () => {
  const files = fc.record({
    'a.yaml': spoiledText(fc.constant(example.replace('newsroom.script.yaml', 'b.yaml')), special),
    'b.yaml': fc.oneof(spoiledText(fc.constant(script), special), special),
    outside: fc.boolean(),
  });
  await inHere('config imports', files, async ({ outside, ...texts }) => {
    for (const [name, text] of Object.entries(texts)) await writeFile(join(directory, name), text);
    const options = { env: { A: 'a', HOME: '${A}' }, ...(outside ? {} : { configRoot: directory }) };
    judge(() => loadProjectFile(join(directory, 'a.yaml'), options));
  });
});
