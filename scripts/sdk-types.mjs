// Writes the types of the SDK beside its bundle. They say themselves what they export, so that no compiler checks for it.
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { replaceFile } from './lib/bundle.mjs';
import { clientTypes } from './lib/client-types.mjs';
import { main } from './lib/steps.mjs';

const sources = 'sdk/src';
const target = 'sdk/dist';
/** The one has types that are made, and the other is of the bundle alone. */
const others = ['api.ts', 'calls.ts'];

await main(async () => {
  const files = [{ name: 'api.d.ts', contents: await clientTypes() }];
  for (const name of (await readdir(sources)).filter((source) => !others.includes(source))) {
    files.push({
      name: name.replace(/\.ts$/, '.d.ts'),
      contents: declarationsOf(name, await readFile(join(sources, name), 'utf8')),
    });
  }
  for (const { name, contents } of files) await replaceFile({ path: join(target, name), contents });
  const current = files.map(({ name }) => name);
  const stale = (await readdir(target)).filter((name) => name.endsWith('.d.ts') && !current.includes(name));
  for (const name of stale) await rm(join(target, name));
});

function declarationsOf(name, text) {
  const compilerOptions = { target: ts.ScriptTarget.ES2024, module: ts.ModuleKind.NodeNext, stripInternal: true };
  const { outputText, diagnostics } = ts.transpileDeclaration(text, {
    fileName: name,
    compilerOptions,
    reportDiagnostics: true,
  });
  const [problem] = diagnostics;
  if (problem) throw new Error(`${sources}/${name}: ${ts.flattenDiagnosticMessageText(problem.messageText, '\n')}`);
  return outputText;
}
