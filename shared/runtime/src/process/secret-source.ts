import { type Redactor, shortestSecret } from '../observability/redactor.js';

/**
 * The only access to providers' keys. Keys are read when they are used, by the name in a project file, and are kept out
 * of the log from then on.
 */
export interface SecretSource {
  /** The value of a variable; undefined where it is not set or empty. */
  read(name: string): string | undefined;
}

/** Keys in variables of this process. */
export function environmentSecrets(
  environment: Readonly<Record<string, string | undefined>>,
  redactor: Redactor,
): SecretSource {
  return {
    read(name) {
      const value = environment[name]?.trim();
      if (value === undefined || value === '') return undefined;
      // Shorter values are no real keys: local servers are given any word.
      if (value.length >= shortestSecret) redactor.add(value);
      return value;
    },
  };
}
