import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { toPlain } from '../config/config-node.js';
import { ProblemList } from '../config/config-problem.js';
import { readTextFile } from '../config/file-source.js';
import { parseTree } from '../config/schema-problems.js';
import { fullBudget, readYaml } from '../config/yaml-reader.js';
import { defaultPolicy, type Policy, policySchema } from './policy.js';

/**
 * Reads a `policy.yaml`; without one, the safe defaults hold. Nothing is imported and no variable substituted: what a
 * host allows is written in one place.
 *
 * @throws {ConfigErrors} with everything that is wrong, each by file, line and column
 */
export function loadPolicy(file: string | undefined): Policy {
  if (file === undefined) return defaultPolicy;
  const problems = new ProblemList();
  const content = readTextFile(file);
  if (!content.ok) {
    problems.add(content.code, { file, line: 1, column: 1 }, content.message);
    throw problems.toError();
  }
  const root = readYaml(content.text, file, problems, fullBudget());
  const policy = parseTree(policySchema, root, toPlain(root), problems);
  if (policy === undefined || !problems.isEmpty) throw problems.toError();
  return policy;
}

/** The file with a data directory's policy: the one that is named, else its own; undefined where it has none. */
export function policyFileOf(root: string, named: string | undefined): string | undefined {
  const own = join(root, 'policy.yaml');
  return named ?? (existsSync(own) ? own : undefined);
}
