import { ConfigErrors } from '@suzumio/core/config/config-problem';
import { parsePolicy } from '@suzumio/core/policy/parse-policy';
import { defaultPolicy, type Policy } from '@suzumio/core/policy/policy';
import { readTextFile } from './files.js';
import { hostPaths } from './this-host.js';

/**
 * Reads this machine's `policy.yaml`; without one, returns the safe defaults.
 *
 * @throws {ConfigErrors} with every error, each by file, line and column
 */
export function loadPolicy(file: string | undefined): Policy {
  if (file === undefined) return defaultPolicy;
  const content = readTextFile(file);
  if (!content.ok) throw new ConfigErrors([{ code: content.code, message: content.message, file, line: 1, column: 1 }]);
  return parsePolicy(content.text, file, hostPaths([], { mounting: false }));
}
