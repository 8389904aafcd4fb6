import { messageOf, SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/** A shorter secret could be guessed. */
const shortest = 32;
const longest = 500;

/**
 * A secret in the variable `name`, or in the file that `<name>_FILE` names.
 *
 * @returns undefined where neither is set
 * @throws SuzumioError `settings-invalid`, which does not contain the secret
 */
export function secretSetting<Name extends string>(
  name: Name,
  environment: { readonly [Key in Name | `${Name}_FILE`]?: string | undefined },
  readFile: (file: string) => string,
): string | undefined {
  const fileName = `${name}_FILE` as const;
  const { [name]: given, [fileName]: file } = environment as Readonly<Record<string, string | undefined>>;
  if (given !== undefined && file !== undefined)
    throw invalid(`${name} and ${fileName} are both set; keep one of them.`);
  const secret = given ?? (file === undefined ? undefined : contentOf(file, fileName, readFile));
  if (secret !== undefined && !isSecret(secret)) {
    throw invalid(
      `${given === undefined ? fileName : name} needs ${shortest} to ${longest} visible ASCII characters: write what "openssl rand -hex 32" prints.`,
    );
  }
  return secret;
}

function isSecret(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text) && text.length >= shortest && text.length <= longest;
}

function contentOf(file: string, variable: string, readFile: (file: string) => string): string {
  try {
    return readFile(file).trim();
  } catch (error) {
    throw invalid(`${variable} cannot be read: ${messageOf(error)}.`, error);
  }
}

function invalid(message: string, cause?: unknown): SuzumioError {
  return new SuzumioError('settings-invalid', message, {}, { cause });
}
