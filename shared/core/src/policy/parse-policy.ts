import { toPlain } from '../config/config-node.js';
import { ProblemList } from '../config/config-problem.js';
import { parseTree } from '../config/schema-problems.js';
import { fullBudget, readYaml } from '../config/yaml-reader.js';
import { type Policy, policySchema } from './policy.js';

/**
 * Parses a `policy.yaml`. Nothing is imported or substituted: a host's policy is in one place.
 *
 * @throws {ConfigErrors} with every error, each by file, line and column
 */
export function parsePolicy(text: string, file: string): Policy {
  const problems = new ProblemList();
  const root = readYaml(text, file, problems, fullBudget());
  const policy = parseTree(policySchema, root, toPlain(root), problems);
  if (policy === undefined || !problems.isEmpty) throw problems.toError();
  return policy;
}
