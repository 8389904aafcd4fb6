import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import ts from 'typescript';

jest.setTimeout(60_000);

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'suzumio-types-'));
  await mkdir(join(directory, 'node_modules/@suzumio'), { recursive: true });
  await symlink(fileURLToPath(new URL('..', import.meta.url)), join(directory, 'node_modules/@suzumio/sdk'));
  await writeFile(
    join(directory, 'program.mts'),
    `import { type Attachment, TeamHandler } from '@suzumio/sdk';
export const start = (attachment: Attachment) =>
  new TeamHandler({ url: '', token: '' }).handle(async (_turn, ctx) => String((await ctx.read(attachment)).length));
`,
  );
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test.each([
  ['bundler', ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Bundler],
  ['nodenext', ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext],
  ['node16', ts.ModuleKind.Node16, ts.ModuleResolutionKind.Node16],
  ['node', ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Node10],
])('its types are found with the module resolution "%s"', (_name, module, moduleResolution) => {
  const program = ts.createProgram([join(directory, 'program.mts')], {
    noEmit: true,
    strict: true,
    target: ts.ScriptTarget.ES2022,
    module,
    moduleResolution,
    ignoreDeprecations: '6.0',
    types: [],
    skipLibCheck: true,
  });
  const problems = ts.getPreEmitDiagnostics(program);
  expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
});
