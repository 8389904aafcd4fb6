import { type ConfigNode, type ConfigPath, mapScalars, type ScalarNode } from './config-node.js';
import type { ProblemList } from './config-problem.js';
import { placeWithin } from './environment.js';
import { indexOfSecret, isCredentialHeader } from './secret-patterns.js';

/**
 * Refuses what looks like a provider's key, wherever it came from: a file, an import or the environment. The message
 * never holds the value, and the value is taken out of the tree, so that no other message does.
 */
export function refuseSecrets(root: ConfigNode, problems: ProblemList): ConfigNode {
  return mapScalars(root, (scalar, path) => {
    if (typeof scalar.value !== 'string' || !isSecret(scalar.value, path)) return scalar;
    problems.add('secret-in-file', placeOfSecret(scalar), message);
    return { kind: 'broken', place: scalar.place };
  });
}

const message =
  'this looks like a key, and keys do not belong in a project file: name the variable that holds it with apiKeyEnv';

function isSecret(value: string, path: ConfigPath): boolean {
  const [name, parent] = [path.at(-1), path.at(-2)];
  if (parent === 'headers' && typeof name === 'string' && isCredentialHeader(name)) return true;
  return indexOfSecret(value) !== undefined;
}

function placeOfSecret(scalar: ScalarNode) {
  return placeWithin(scalar, indexOfSecret(scalar.source) ?? 0);
}
