import type * as z from 'zod';
import { type ConfigNode, type ConfigPath, entriesOf, locate, textOf } from './config-node.js';
import type { ConfigProblemCode, Place, ProblemList } from './config-problem.js';
import { configLimits } from './limits.js';
import { suggest } from '@suzumio/contract/errors/suggest';

type Issue = z.core.$ZodIssue;

/**
 * Checks a tree against a schema and reports problems with their positions.
 *
 * @returns the parsed value; `undefined` where there are problems
 */
export function parseTree<Schema extends z.ZodType>(
  schema: Schema,
  root: ConfigNode,
  plain: unknown,
  problems: ProblemList,
): z.infer<Schema> | undefined {
  const result = schema.safeParse(plain, { error: describeKnownKeys });
  if (result.success) return result.data;
  const reporter = new IssueReporter(root, problems);
  for (const issue of result.error.issues.slice(0, configLimits.problems)) reporter.report(issue, []);
  return undefined;
}

/** The message of an `unrecognized_keys` issue: the keys that would have been known. */
const describeKnownKeys: z.core.$ZodErrorMap = (issue) => {
  if (issue.code !== 'unrecognized_keys') return undefined;
  const definition = issue.inst?._zod.def as z.core.$ZodObjectDef | undefined;
  return Object.keys(definition?.shape ?? {}).join(' ');
};

const knownKeys = (issue: Issue): string[] => issue.message.split(' ').filter((key) => key !== '');

class IssueReporter {
  constructor(
    private readonly root: ConfigNode,
    private readonly problems: ProblemList,
  ) {}

  report(issue: Issue, prefix: ConfigPath): void {
    const path = [...prefix, ...(issue.path as ConfigPath)];
    const found = locate(this.root, path);
    if (found.node.kind === 'broken') return;
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys.slice(0, configLimits.problems))
        this.#unknownField([...path, key], knownKeys(issue));
    } else if (issue.code === 'invalid_union') {
      this.#union(issue, path);
    } else if (issue.code === 'invalid_key') {
      this.#say('key-invalid', found.keyPlace ?? found.node.place, path, issue.issues[0]?.message ?? issue.message);
    } else if (!found.complete) {
      this.#say('field-missing', found.keyPlace ?? found.node.place, path, 'is required');
    } else {
      this.#say('value-invalid', found.node.place, path, explain(issue, found.node));
    }
  }

  /** Reports the problems of a union by the alternative that is closest to the value. */
  #union(issue: z.core.$ZodIssueInvalidUnion, path: ConfigPath): void {
    const { node } = locate(this.root, path);
    const fitting = issue.errors.filter((issues) => !issues.some((inner) => isTypeMismatch(inner)));
    if (fitting.length === 0) {
      const mismatches = issue.errors.flatMap((issues) => issues.filter(isTypeMismatch));
      const kinds = [...new Set(mismatches.map(expectation))].join(' or ');
      const message = issue.message === 'Invalid input' ? `expected ${kinds}` : issue.message;
      const choices = mismatches
        .flatMap((inner) => (inner.code === 'invalid_value' ? inner.values.map(String) : []))
        // A message of the schema's own leaves out what is refused later.
        .filter((choice) => message.includes(choice));
      const got = choices.length > 0 && textOf(node) !== undefined ? '' : `, got ${nameOf(node)}`;
      this.#say('value-invalid', node.place, path, `${message}${got}${meantChoice(node, choices)}`);
      return;
    }
    const ranked = fitting
      .map((issues) => ({ issues, misses: misses(issues, node) }))
      .sort((a, b) => a.misses - b.misses);
    const [best, second] = ranked;
    if (best !== undefined && (best.misses === 0 || best.misses !== second?.misses)) {
      for (const inner of best.issues) this.report(inner, path);
      return;
    }
    const known = [...new Set(fitting.flat().flatMap(keysOfAlternative))];
    const unknown = entriesOf(node).filter(([key]) => !known.includes(key));
    for (const [key] of unknown) this.#unknownField([...path, key], known);
    if (unknown.length === 0) this.#say('value-invalid', node.place, path, `expected one of ${known.join(', ')}`);
  }

  #unknownField(path: ConfigPath, known: readonly string[]): void {
    const found = locate(this.root, path);
    if (found.node.kind === 'broken') return;
    const key = String(path.at(-1));
    const meant = suggest(key, known);
    const hint = meant === undefined ? `known are ${known.join(', ')}` : `did you mean \`${meant}\`?`;
    const where = path.length > 1 ? ` in ${describePath(path.slice(0, -1))}` : '';
    const place = found.keyPlace ?? found.node.place;
    this.problems.add('field-unknown', place, `unknown field${where} \`${key}\`: ${hint}`, describePath(path));
  }

  #say(code: ConfigProblemCode, place: Place, path: ConfigPath, message: string): void {
    const field = describePath(path);
    if (field === '') this.problems.add(code, place, `the file: ${message}`);
    else this.problems.add(code, place, `${field}: ${message}`, field);
  }
}

/** How many keys an alternative does not know, or requires and lacks. */
function misses(issues: readonly Issue[], node: ConfigNode): number {
  return issues.reduce((sum, issue) => {
    if (issue.code === 'unrecognized_keys' && issue.path.length === 0) return sum + issue.keys.length;
    return issue.path.length === 1 && !locate(node, issue.path as ConfigPath).complete ? sum + 1 : sum;
  }, 0);
}

function keysOfAlternative(issue: Issue): string[] {
  if (issue.code === 'unrecognized_keys' && issue.path.length === 0) return knownKeys(issue);
  return issue.path.length === 1 ? [String(issue.path[0])] : [];
}

function isTypeMismatch(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value');
}

function explain(issue: Issue, node: ConfigNode): string {
  if (issue.code === 'invalid_type') {
    const scalar = node.kind === 'scalar' && node.value !== null;
    const hint = issue.expected === 'string' && scalar ? ' (put quotes around it)' : '';
    return `expected ${expectation(issue)}, got ${nameOf(node)}${hint}`;
  }
  if (issue.code === 'invalid_value') {
    return `expected ${expectation(issue)}${meantChoice(node, issue.values.map(String))}`;
  }
  if (issue.code === 'too_small') return `must be at least ${issue.minimum}${unitOf(issue.origin)}`;
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}${unitOf(issue.origin)}`;
  return issue.message;
}

function meantChoice(node: ConfigNode, choices: readonly string[]): string {
  const text = textOf(node);
  const meant = text === undefined || choices.length < 2 ? undefined : suggest(text, choices);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

function expectation(issue: Issue): string {
  if (issue.code === 'invalid_value') {
    return `${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
  }
  const expected = issue.code === 'invalid_type' ? issue.expected : '';
  const names: Readonly<Record<string, string>> = {
    string: 'a text',
    number: 'a number',
    int: 'a whole number',
    boolean: 'true or false',
    array: 'a list',
    object: 'an object',
    record: 'an object',
  };
  return names[expected] ?? expected;
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters long';
  return origin === 'array' ? ' entries long' : '';
}

function nameOf(node: ConfigNode): string {
  switch (node.kind) {
    case 'list':
      return 'a list';
    case 'map':
      return 'an object';
    case 'broken':
      return 'nothing';
    case 'scalar':
      if (node.value === null) return 'nothing (a text that begins with # needs quotes)';
      return { string: 'a text', number: 'a number', boolean: 'true or false' }[
        typeof node.value as 'string' | 'number' | 'boolean'
      ];
  }
}

/** A path for people: `agents.editor.tools[0]`. */
export function describePath(path: ConfigPath): string {
  return path.reduce<string>(
    (text, segment) => text + (typeof segment === 'number' ? `[${segment}]` : text === '' ? segment : `.${segment}`),
    '',
  );
}
