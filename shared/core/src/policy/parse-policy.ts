import { locate, toPlain } from '../config/config-node.js';
import { ProblemList } from '../config/config-problem.js';
import { describePath, parseTree } from '../config/schema-problems.js';
import { fullBudget, readYaml } from '../config/yaml-reader.js';
import { type HostPaths, unseenHost } from './host-paths.js';
import { type Policy, policySchema } from './policy.js';
import { movableRules, resolvePolicy } from './resolve-policy.js';

/**
 * Parses a `policy.yaml`. Nothing is imported or substituted: a host's policy is in one place. The links in its paths are
 * resolved, as they are now.
 *
 * @param host where the policy holds
 * @throws {ConfigErrors} with every error, each by file, line and column
 */
export function parsePolicy(text: string, file: string, host: HostPaths = unseenHost): Policy {
  const problems = new ProblemList();
  const root = readYaml(text, file, problems, fullBudget());
  const policy = parseTree(policySchema, root, toPlain(root), problems);
  for (const { at, message } of policy ? movableRules(policy, host) : []) {
    problems.add('rule-writable', locate(root, at).node.place, `${describePath(at)}: ${message}`);
  }
  if (policy === undefined || !problems.isEmpty) throw problems.toError();
  return resolvePolicy(policy, host);
}
