import { isEnvValue } from './agent-env.js';
import { type ConfigNode, type ConfigPath, mapScalars, type ScalarNode } from './config-node.js';
import type { Place, ProblemList } from './config-problem.js';
import { placeWithin, variablesIn } from './environment.js';
import { indexOfSecret, isCredentialHeader, isSecretVariable } from './secret-patterns.js';

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

/**
 * Refuses `${NAME}` of variables that hold secrets by their name, whether they are set or not: what stands in a project
 * file is stored, shown and told to models. What an agent's `env` gives to its container is not looked at here. The value
 * is taken out of the tree, so that nothing is put in its place.
 *
 * @param within the fields that are looked at
 */
export function refuseSecretVariables(
  root: ConfigNode,
  problems: ProblemList,
  within: (path: ConfigPath) => boolean = (path) => !isEnvValue(path),
): ConfigNode {
  return mapScalars(root, (scalar, path) => {
    if (typeof scalar.value !== 'string' || scalar.style === 'verbatim' || !within(path)) return scalar;
    const names = variablesIn(scalar.value).filter(isSecretVariable);
    if (names.length === 0) return scalar;
    for (const name of names) problems.add('variable-secret', placeOfVariable(scalar, name), refusalOf(name));
    return { kind: 'broken', place: scalar.place };
  });
}

function placeOfVariable(scalar: ScalarNode, name: string): Place {
  return placeWithin(scalar, Math.max(0, scalar.source.indexOf(`\${${name}`)));
}

function refusalOf(name: string): string {
  return `\${${name}} looks like a secret, and no secret enters a project file: name a provider's key with apiKeyEnv, give an agent's in its env, or rename a variable that holds none`;
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
