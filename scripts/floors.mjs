// npm run floors [-- --print]: draws which package imports which, into CONTRIBUTING.md or to standard output.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { onProjectNode } from './lib/project-node.mjs';
import { main } from './lib/steps.mjs';

const page = 'CONTRIBUTING.md';
const packages = '(shared/[^/]+|services/[^/]+|runner|cli|sdk)';

/** The packages that each package imports, as dependency-cruiser finds them. */
function importsOfPackages() {
  const options = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json'];
  const scope = ['--include-only', `^${packages}/src`, '--collapse', `^${packages}`];
  const args = ['node_modules/.bin/depcruise', ...options, ...scope, 'shared', 'services', 'runner', 'cli', 'sdk'];
  const { modules } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 26 }));
  return new Map(
    modules.map(({ source, dependencies }) => [
      source,
      dependencies.map(({ resolved }) => resolved).filter((name) => name !== source),
    ]),
  );
}

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
  const diagram = diagramOf(importsOfPackages());
  if (process.argv.includes('--print')) console.log(diagram);
  else writeFileSync(page, readFileSync(page, 'utf8').replace(/```mermaid\n[^]*?\n```/, diagram));
});
