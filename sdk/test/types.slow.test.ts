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
  ['bundler', 'esnext'],
  ['nodenext', 'nodenext'],
  ['node16', 'node16'],
  ['node', 'esnext'],
])('its types are found with the module resolution "%s"', (moduleResolution, module) => {
  const { options } = ts.convertCompilerOptionsFromJson(
    {
      ...{
        noEmit: true,
        strict: true,
        target: 'es2022',
        module,
        moduleResolution,
        ignoreDeprecations: '6.0',
        types: [],
      },
      // TypeScript's own are not in question.
      skipDefaultLibCheck: true,
    },
    directory,
  );
  const problems = ts.getPreEmitDiagnostics(ts.createProgram([join(directory, 'program.mts')], options));
  expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
});
