import { dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { type ConfigNode, mapScalars, type ScalarNode } from './config-node.js';
import type { ProblemList } from './config-problem.js';
import { importPathOf, unescapeImport } from './import-marker.js';
import { configLimits } from './limits.js';
import type { SourceFiles } from './source-files.js';
import { type ReadBudget, readYaml } from './yaml-reader.js';

export interface ImportContext {
  readonly problems: ProblemList;
  readonly warnings: ProblemList;
  readonly disk: SourceFiles;
  /** The real path of the directory that imports must be in. */
  readonly configRoot: string;
  /** Real paths of all files read so far; extended by each import. */
  readonly files: Set<string>;
  readonly budget: ReadBudget;
}

/** An open file: its name for people, and its real path. */
export interface OpenFile {
  readonly name: string;
  readonly realPath: string;
}

/**
 * Replaces every value that consists of `@import(path)` by that file: `.yaml`, `.yml` and `.json` as data with their
 * own imports resolved, everything else as text.
 *
 * @param chain the files that lead here, the one with `node` last
 */
export function resolveImports(node: ConfigNode, chain: readonly OpenFile[], context: ImportContext): ConfigNode {
  return mapScalars(node, (scalar) => {
    if (typeof scalar.value !== 'string') return scalar;
    if (scalar.style === 'block' && importPathOf(scalar.value.trim()) !== undefined) {
      const message = 'nothing is imported in a block: write @import(…) on the line of its key';
      context.warnings.add('import-in-block', scalar.place, message);
    }
    if (scalar.style !== 'inline') return scalar;
    const path = importPathOf(scalar.value);
    if (path === undefined) return { ...scalar, value: unescapeImport(scalar.value) };
    return importFile(path, scalar, chain, context);
  });
}

function importFile(path: string, marker: ScalarNode, chain: readonly OpenFile[], context: ImportContext): ConfigNode {
  const { problems } = context;
  const broken: ConfigNode = { kind: 'broken', place: marker.place };
  const importer = chain.at(-1);
  // Over the limit, which was reported, nothing more is read.
  if (importer === undefined || context.budget.values < 0 || context.budget.bytes < 0) return broken;
  if (path === '' || path.includes('\0')) {
    problems.add('import-invalid', marker.place, '@import needs the path of a file: @import(path)');
    return broken;
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) {
    problems.add('import-remote', marker.place, `${path} is not on this machine; only files can be imported`);
    return broken;
  }
  if (chain.length > configLimits.importDepth) {
    const message = `imports are nested more than ${configLimits.importDepth} deep: ${describe(chain, path)}`;
    problems.add('import-too-deep', marker.place, message);
    return broken;
  }
  const content = context.disk.readText(resolve(dirname(importer.realPath), path));
  if (!content.ok) {
    problems.add(content.code, marker.place, `@import(${path}): ${content.message}`);
    return broken;
  }
  const { realPath, text } = content;
  if (!isInside(context.configRoot, realPath)) {
    const message = `@import(${path}) leaves the directory that imports are kept to, ${context.configRoot}; --config-root names another`;
    problems.add('import-outside-root', marker.place, message);
    return broken;
  }
  if (chain.some((file) => file.realPath === realPath)) {
    problems.add('import-cycle', marker.place, `files import one another in a circle: ${describe(chain, path)}`);
    return broken;
  }
  context.budget.bytes -= Buffer.byteLength(text);
  if (context.budget.bytes < 0) {
    const message = `the file and its imports have more than ${configLimits.totalBytes} bytes together`;
    problems.add('too-large', marker.place, message);
    return broken;
  }
  context.files.add(realPath);
  const file: OpenFile = { name: isAbsolute(path) ? path : join(dirname(importer.name), path), realPath };
  return insert(text, file, chain, context);
}

function insert(text: string, file: OpenFile, chain: readonly OpenFile[], context: ImportContext): ConfigNode {
  switch (extname(file.realPath).toLowerCase()) {
    case '.json':
    case '.yaml':
    case '.yml':
      return resolveImports(readYaml(text, file.name, context.problems, context.budget), [...chain, file], context);
    default:
      return verbatim(text, file.name);
  }
}

function verbatim(text: string, file: string): ScalarNode {
  return { kind: 'scalar', value: text, place: { file, line: 1, column: 1 }, style: 'verbatim', source: text };
}

function describe(chain: readonly OpenFile[], last: string): string {
  return [...chain.map((file) => file.name), last].join(' -> ');
}

/** Whether a path is a directory or below it. Both are real paths. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
