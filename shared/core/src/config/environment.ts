import { type ConfigNode, type ConfigPath, mapScalars, type ScalarNode } from './config-node.js';
import type { Place, ProblemList } from './config-problem.js';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** `$${`, or `${NAME}` (also `${env:NAME}`), `${NAME:-default}`, or any other `${`. */
const reference = /\$\$\{|\$\{(?:(?:env:)?([A-Za-z_]\w*)(?::-([^{}]*))?\})?/g;

/**
 * Replaces `${NAME}` in the scalars of a tree. A value stays a string whatever the variable contains, and inserted text
 * is not substituted again. Imported texts are skipped.
 *
 * Fields that are only read at run time keep references to missing variables; their value stays in the file's notation
 * (`$${` for a literal `${`), because it will be substituted again.
 *
 * @param within the fields to look at
 */
export function substituteEnvironment(
  root: ConfigNode,
  environment: Environment,
  problems: ProblemList,
  warnings: ProblemList,
  within: (path: ConfigPath) => boolean,
): ConfigNode {
  return mapScalars(root, (scalar, path) => {
    if (typeof scalar.value !== 'string' || scalar.style === 'verbatim' || !within(path)) return scalar;
    const atRunTime = isReadAtRunTime(path);
    const find = finder(scalar);
    const missing: string[] = [];
    const value = scalar.value.replace(reference, (match, name?: string, fallback?: string) => {
      const index = find(match);
      if (match === '$${') return atRunTime ? match : '${';
      if (name === undefined) {
        const message = 'this `${` begins no variable and is kept as text; `$${` says so';
        warnings.add('variable-malformed', () => placeWithin(scalar, index), message);
        return match;
      }
      const found = Object.hasOwn(environment, name) ? environment[name] : undefined;
      const replacement = fallback !== undefined && (found === undefined || found === '') ? fallback : found;
      if (replacement !== undefined) return atRunTime ? escapeEnvironment(replacement) : replacement;
      if (!atRunTime) {
        missing.push(name);
        const message = `the environment has no variable ${name}; set it, or write \${${name}:-default}`;
        problems.add('variable-missing', () => placeWithin(scalar, index), message);
      }
      return match;
    });
    return missing.length > 0 ? { kind: 'broken', place: scalar.place } : { ...scalar, value };
  });
}

/** Unescapes the scalars of a tree without substituting variables. */
export function unescapeEnvironment(root: ConfigNode): ConfigNode {
  return mapScalars(root, (scalar, path) => {
    if (typeof scalar.value !== 'string' || isReadAtRunTime(path)) return scalar;
    return { ...scalar, value: unescapeReferences(scalar.value) };
  });
}

/** Unescapes a text in the file's notation. */
export function unescapeReferences(text: string): string {
  return text.replaceAll('$${', () => '${');
}

/** The variables that a text in the file's notation still refers to. */
export function variablesIn(text: string): string[] {
  return [...text.matchAll(reference)].flatMap(([, name]) => (name === undefined ? [] : [name]));
}

/** Escapes a text so that it is not read as a reference. */
export function escapeEnvironment(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** Calls `visit` with every variable reference of a tree, its position and its field. */
export function visitVariables(
  root: ConfigNode,
  visit: (name: string, place: () => Place, path: ConfigPath) => void,
): void {
  mapScalars(root, (scalar, path) => {
    if (typeof scalar.value !== 'string') return scalar;
    const find = finder(scalar);
    for (const [text, name] of scalar.value.matchAll(reference)) {
      const index = find(text);
      if (name !== undefined) visit(name, () => placeWithin(scalar, index), path);
    }
    return scalar;
  });
}

/** Whether a field is only read when the project runs, so that its variables may be set later. */
export function isReadAtRunTime(path: ConfigPath): boolean {
  const field = path.filter((segment) => typeof segment === 'string' && segment !== 'extends');
  if (field.length === 2) return field[0] === 'backend' && field[1] === 'controllerUrl';
  return (
    field.length === 6 && field.slice(0, 4).join('.') === 'backend.runner.models.providers' && field[5] === 'baseURL'
  );
}

/** Finds successive parts of a scalar's value in its source text; the beginning where it cannot. */
function finder(scalar: ScalarNode): (part: string) => number {
  let from = 0;
  return (part) => {
    const index = scalar.source.indexOf(part, from);
    if (index < 0) return 0;
    from = index + part.length;
    return index;
  };
}

/** The position of a character of a scalar in its file. */
export function placeWithin(scalar: ScalarNode, index: number): Place {
  const before = scalar.source.slice(0, index).split('\n');
  const column = (before.at(-1)?.length ?? 0) + (before.length === 1 ? scalar.place.column : 1);
  return { file: scalar.place.file, line: scalar.place.line + before.length - 1, column };
}
