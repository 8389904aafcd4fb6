import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { DataDirectory } from '@suzumio/store/cell/data-directory';
import * as z from 'zod';

/** What a person has allowed each file of theirs, in the data directory, for its owner alone. */
export interface Consents<Allowed> {
  /** @throws SuzumioError `data-dir-invalid` where they cannot be read */
  allowed(file: string, asked: Allowed): boolean;
  remember(file: string, asked: Allowed): void;
}

/** A kind of consent. */
export interface ConsentKind<Schema extends z.ZodType> {
  /** Its file in the data directory. */
  readonly name: string;
  /** What may be used, in words. */
  readonly what: string;
  readonly schema: Schema;
  readonly isSame: (one: z.infer<Schema>, other: z.infer<Schema>) => boolean;
}

export function consentsIn<Schema extends z.ZodType>(
  root: string,
  { name, what, schema, isSame }: ConsentKind<Schema>,
): Consents<z.infer<Schema>> {
  const path = join(root, name);
  const consents = z.record(z.string(), z.array(schema));
  const read = (): z.infer<typeof consents> => {
    try {
      return consents.parse(JSON.parse(readFileSync(path, 'utf8')));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
      const message = `${path} cannot be read: remove it, and be asked again which ${what} a file may use.`;
      throw new SuzumioError('data-dir-invalid', message, {}, { cause: error });
    }
  };
  return {
    allowed: (file, asked) => (read()[file] ?? []).some((one) => isSame(one, asked)),
    remember(file, asked) {
      const known = read();
      new DataDirectory(root).prepare();
      const temporary = `${path}.${String(process.pid)}`;
      const text = JSON.stringify({ ...known, [file]: [...(known[file] ?? []), asked] }, null, 2);
      writeFileSync(temporary, `${text}\n`, { mode: 0o600 });
      renameSync(temporary, path);
    },
  };
}
