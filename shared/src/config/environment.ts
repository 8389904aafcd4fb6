import { type ConfigNode, type ConfigPath, mapScalars, type ScalarNode } from './config-node.js';
import type { Place, ProblemList } from './config-problem.js';

/** Variables by name, as a process is given them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** `$${`, or `${NAME}`, `${NAME:-default}`, or any other `${`. */
const reference = /\$\$\{|\$\{(?:([A-Za-z_]\w*)(?::-([^}]*))?\})?/g;

/**
 * Replaces `${NAME}` in the scalars of a tree. A value stays a string whatever the variable holds, and what was
 * inserted is not looked at again. Imported texts are left alone.
 *
 * Fields that are read at run time only keep a reference to a variable that is not there; their value stays in the
 * notation of the file (`$${` for a literal `${`), because it will be read once more.
 */
export function substituteEnvironment(
  root: ConfigNode,
  environment: Environment,
  problems: ProblemList,
  warnings: ProblemList,
): ConfigNode {
  return mapScalars(root, (scalar, path) => {
    if (typeof scalar.value !== 'string' || scalar.style === 'verbatim') return scalar;
    const atRunTime = isReadAtRunTime(path);
    const place = placeFinder(scalar);
    const missing: string[] = [];
    const value = scalar.value.replace(reference, (match, name?: string, fallback?: string) => {
      const at = place(match);
      if (match === '$${') return atRunTime ? match : '${';
      if (name === undefined) {
        warnings.add('variable-malformed', at, 'this `${` begins no variable and is kept as text; `$${` says so');
        return match;
      }
      const found = Object.hasOwn(environment, name) ? environment[name] : undefined;
      const replacement = fallback !== undefined && (found === undefined || found === '') ? fallback : found;
      if (replacement !== undefined) return atRunTime ? escapeEnvironment(replacement) : replacement;
      if (!atRunTime) {
        missing.push(name);
        const message = `the environment has no variable ${name}; set it, or write \${${name}:-default}`;
        problems.add('variable-missing', at, message);
      }
      return match;
    });
    return missing.length > 0 ? { kind: 'broken', place: scalar.place } : { ...scalar, value };
  });
}

/** Takes the escapes off the scalars of a tree in which no variable is substituted. */
export function unescapeEnvironment(root: ConfigNode): ConfigNode {
  return mapScalars(root, (scalar, path) => {
    if (typeof scalar.value !== 'string' || isReadAtRunTime(path)) return scalar;
    return { ...scalar, value: scalar.value.replaceAll('$${', '${') };
  });
}

/** Writes a text so that it is not taken for a reference. */
export function escapeEnvironment(text: string): string {
  return text.replaceAll('${', '$${');
}

/** The places at which a tree names variables. */
export function variableReferences(root: ConfigNode): { name: string; place: Place }[] {
  const found: { name: string; place: Place }[] = [];
  mapScalars(root, (scalar) => {
    if (typeof scalar.value !== 'string') return scalar;
    const place = placeFinder(scalar);
    for (const match of scalar.value.matchAll(reference)) {
      const at = place(match[0]);
      if (match[1] !== undefined) found.push({ name: match[1], place: at });
    }
    return scalar;
  });
  return found;
}

/** Whether a field is only read when the project runs, so that its variables may be set later. */
export function isReadAtRunTime(path: ConfigPath): boolean {
  const field = path.filter((segment) => typeof segment === 'string' && segment !== 'extends');
  if (field.length === 2) return field[0] === 'backend' && field[1] === 'controllerUrl';
  return (
    field.length === 6 && field.slice(0, 4).join('.') === 'backend.runner.models.providers' && field[5] === 'baseURL'
  );
}

/** Finds, one after the other, where parts of a scalar stand in its file; the scalar's own place where it cannot. */
function placeFinder(scalar: ScalarNode): (part: string) => Place {
  let from = 0;
  return (part) => {
    const index = scalar.source.indexOf(part, from);
    if (index < 0) return scalar.place;
    from = index + part.length;
    return placeWithin(scalar, index);
  };
}

/** The place of a character of a scalar as it was written. */
export function placeWithin(scalar: ScalarNode, index: number): Place {
  const before = scalar.source.slice(0, index).split('\n');
  const column = (before.at(-1)?.length ?? 0) + (before.length === 1 ? scalar.place.column : 1);
  return { file: scalar.place.file, line: scalar.place.line + before.length - 1, column };
}
