import { isEnvValue } from './agent-env.js';
import { type ConfigNode, type ConfigPath, mapScalars, type ScalarNode } from './config-node.js';
import type { Place, ProblemList } from './config-problem.js';
import { placeWithin, variablesIn } from './environment.js';
import { indexOfKey, indexOfPassword, isCredentialHeader, isSecretVariable } from './secret-patterns.js';

/**
 * Refuses what looks like a key or a password, from a file, an import or the environment. The message never contains
 * the value, and the value is removed from the tree, so that no other message does.
 *
 * The value of a variable in an agent's `env` may be a secret from the environment: there, only a key written in the
 * file is refused.
 *
 * @param options.literal whether the tree contains the values of variables instead of the file's text
 */
export function refuseSecrets(root: ConfigNode, problems: ProblemList, { literal = false } = {}): ConfigNode {
  return mapScalars(root, (scalar, path) => {
    const secret = secretIn(scalar, path, literal);
    if (secret === undefined) return scalar;
    problems.add('secret-in-file', placeWithin(scalar, secret.indexIn(scalar.source) ?? 0), secret.message);
    return { kind: 'broken', place: scalar.place };
  });
}

/**
 * Refuses `${NAME}` of variables whose name marks a secret, set or not, because a project file is stored, shown and
 * given to models. The value is removed from the tree, so that nothing is substituted.
 *
 * @param within the fields to check
 */
export function refuseSecretVariables(
  root: ConfigNode,
  problems: ProblemList,
  within: (path: ConfigPath) => boolean,
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
  return `\${${name}} looks like a secret, and no secret enters a project file: name a provider's key with apiKeyEnv, give an agent's in its env, rename a variable that holds none, or write $\${${name}} where the text itself is meant`;
}

interface Secret {
  readonly message: string;
  /** The offset at which it begins in a text, if it does. */
  readonly indexIn: (text: string) => number | undefined;
}

const key: Secret = {
  message:
    "this looks like a key, and keys do not belong in a project file: name the variable that holds it, a provider's with apiKeyEnv, another as ${NAME} in the env of its agent",
  indexIn: indexOfKey,
};
const password: Secret = {
  message:
    "there is a password in an address here, and passwords do not belong in a project file: name the variable that holds the address, a provider's with baseURLEnv, another as ${NAME} in the env of its agent",
  indexIn: indexOfPassword,
};

function secretIn({ value, source }: ScalarNode, path: ConfigPath, literal: boolean): Secret | undefined {
  if (typeof value !== 'string') return undefined;
  const [name, parent] = [path.at(-1), path.at(-2)];
  if (parent === 'headers' && typeof name === 'string' && isCredentialHeader(name)) return key;
  if (isEnvValue(path)) return !literal && indexOfKey(source) !== undefined ? key : undefined;
  return [key, password].find(({ indexIn }) => indexIn(value) !== undefined);
}
