// npm run floors [-- --print]: draws which package imports which, into CONTRIBUTING.md or to standard output.
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { onProjectNode } from './lib/project-node.mjs';
import { main } from './lib/steps.mjs';

const page = 'CONTRIBUTING.md';
const sources = /^(shared\/[^/]+|services\/[^/]+|runner|cli|sdk)\/src\//;

/** The packages that each package imports. */
function importsOfPackages(imports) {
  const found = new Map();
  for (const file of imports.files.filter((one) => sources.test(one))) {
    const own = packageOf(file);
    const used = [...imports.of(file)].map(packageOf).filter((name) => name !== undefined && name !== own);
    found.set(own, new Set([...(found.get(own) ?? []), ...used]));
  }
  return new Map([...found].map(([own, used]) => [own, [...used]]));
}

const packageOf = (file) => sources.exec(file)?.[1];

/** Whether a package imports another, directly or through others. */
function reaches(imports, from, to, seen = new Set()) {
  if (seen.has(from)) return false;
  seen.add(from);
  return imports.get(from).some((next) => next === to || reaches(imports, next, to, seen));
}

/**
 * A Mermaid diagram of the imports. An arrow that others imply is left out.
 *
 * @throws where packages import each other in a circle
 */
function diagramOf(imports) {
  const id = (name) => name.split('/').at(-1).replace('-', '_');
  const lines = [...imports].sort().flatMap(([name, imported]) => {
    if (reaches(imports, name, name)) throw new Error(`${name} is in a circle of imports`);
    const direct = imported.filter((one) => !imported.some((other) => reaches(imports, other, one)));
    return [`${id(name)}["${name}"]`, ...direct.sort().map((other) => `${id(name)} --> ${id(other)}`)];
  });
  return ['```mermaid', 'flowchart TD', ...lines.map((line) => `  ${line}`), '```'].join('\n');
}

await main(async () => {
  await onProjectNode();
  const { Imports } = await import('./lib/imports.mjs');
  const diagram = diagramOf(importsOfPackages(new Imports()));
  if (process.argv.includes('--print')) console.log(diagram);
  else writeFileSync(page, readFileSync(page, 'utf8').replace(/```mermaid\n[^]*?\n```/, diagram));
});
