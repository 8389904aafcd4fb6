import { type ErrorDetails, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { configLimits } from './limits.js';

/** A position in a file; line and column count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The kinds of problems in a project file. The names are stable. */
export type ConfigProblemCode =
  | 'alias-unknown'
  | 'agent-duplicate'
  | 'agent-unknown'
  | 'document-count'
  | 'duplicate-key'
  | 'extends-invalid'
  | 'extends-refused'
  | 'field-missing'
  | 'field-unknown'
  | 'file-missing'
  | 'file-not-utf8'
  | 'file-too-large'
  | 'file-unreadable'
  | 'import-cycle'
  | 'import-in-block'
  | 'import-invalid'
  | 'import-outside-root'
  | 'import-refused'
  | 'import-remote'
  | 'import-too-deep'
  | 'key-invalid'
  | 'key-refused'
  | 'key-without-effect'
  | 'keys-contradict'
  | 'limit-too-small'
  | 'name-ambiguous'
  | 'name-duplicate'
  | 'not-supported-yet'
  | 'path-refused'
  | 'policy-denied'
  | 'preset-cycle'
  | 'model-missing'
  | 'price-missing'
  | 'profile-duplicate'
  | 'profile-name-clash'
  | 'profile-retired'
  | 'profile-unknown'
  | 'preset-unknown'
  | 'provider-unknown'
  | 'repository-invalid'
  | 'rule-writable'
  | 'secret-in-file'
  | 'text-invalid'
  | 'tool-unknown'
  | 'toolpack-invalid'
  | 'toolpack-missing'
  | 'too-deep'
  | 'too-large'
  | 'value-invalid'
  | 'variable-malformed'
  | 'variable-missing'
  | 'variable-refused'
  | 'variable-secret'
  | 'yaml-syntax'
  | 'yaml-unsupported';

/** One problem and its position. */
export interface ConfigProblem extends Place {
  readonly code: ConfigProblemCode;
  readonly message: string;
  /** The field that it is about, such as `agents.editor.tools[0]`, where it is about one. */
  readonly path?: string | undefined;
}

/** `file:line:column  message`, as compilers print it and editors understand it. */
export function formatProblem(problem: Place & Pick<ConfigProblem, 'message'>): string {
  return `${problem.file}:${problem.line}:${problem.column}  ${problem.message}`;
}

/** All problems of a project file, in the order of its lines. */
export class ConfigErrors extends SuzumioError {
  constructor(
    readonly problems: readonly ConfigProblem[],
    code:
      | 'invalid-config'
      | 'not-supported-yet'
      | 'policy-denied'
      | 'profile-unknown'
      | 'profile-retired' = 'invalid-config',
    details: ErrorDetails = {},
  ) {
    const lines = problems.map(formatProblem);
    super(code, lines.join('\n'), { ...details, problems: lines });
  }
}

/** Collects problems while a file is read, so that they are reported together. */
export class ProblemList {
  readonly #problems = new Map<string, ConfigProblem>();

  /** Adds a problem; beyond the limit it does nothing, without evaluating the message. */
  add(code: ConfigProblemCode, where: Place | (() => Place), said: string | (() => string), path?: string): void {
    if (this.#problems.size >= configLimits.problems) return;
    const { file, line, column } = typeof where === 'function' ? where() : where;
    const message = typeof said === 'function' ? said() : said;
    const problem = { code, message, file, line, column, ...(path === undefined ? {} : { path }) };
    this.#problems.set(formatProblem(problem), problem);
  }

  get isEmpty(): boolean {
    return this.#problems.size === 0;
  }

  /** The problems, those of one file together and by line; files in the order in which a problem was first found. */
  sorted(): ConfigProblem[] {
    const problems = [...this.#problems.values()];
    const files = [...new Set(problems.map((problem) => problem.file))];
    return problems.sort(
      (a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
    );
  }

  toError(): ConfigErrors {
    return new ConfigErrors(this.sorted());
  }
}
