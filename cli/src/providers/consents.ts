import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { policySchema } from '@suzumio/core/policy/policy';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { DataDirectory } from '@suzumio/store/cell/data-directory';
import * as z from 'zod';
import { isSamePair, type ProviderPair } from './provider-pair.js';

const consents = z.record(z.string(), policySchema.shape.providers.unwrap());

/** The providers that a person has allowed each file of theirs, in the data directory, for its owner alone. */
export interface Consents {
  /** @throws SuzumioError `data-dir-invalid` where they cannot be read */
  allowed(file: string, pair: ProviderPair): boolean;
  remember(file: string, pair: ProviderPair): void;
}

export function consentsIn(root: string): Consents {
  const path = join(root, 'providers-allowed.json');
  const read = (): z.infer<typeof consents> => {
    try {
      return consents.parse(JSON.parse(readFileSync(path, 'utf8')));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
      const message = `${path} cannot be read: remove it, and be asked again which providers a file may use.`;
      throw new SuzumioError('data-dir-invalid', message, {}, { cause: error });
    }
  };
  return {
    allowed: (file, pair) => (read()[file] ?? []).some((one) => isSamePair(one, pair)),
    remember(file, pair) {
      const known = read();
      new DataDirectory(root).prepare();
      const temporary = `${path}.${String(process.pid)}`;
      const text = JSON.stringify({ ...known, [file]: [...(known[file] ?? []), pair] }, null, 2);
      writeFileSync(temporary, `${text}\n`, { mode: 0o600 });
      renameSync(temporary, path);
    },
  };
}
