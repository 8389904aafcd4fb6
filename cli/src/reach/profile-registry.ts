import { type ProfileRegistry, noProfiles } from '@suzumio/core/profiles/registry';
import { Catalog } from '@suzumio/store/cell/catalog';
import { systemContext } from '@suzumio/store/sqlite/context';
import { DataDirectory } from '@suzumio/store/cell/data-directory';

/** Runs `body` with the profiles of a data directory; there are none where it does not exist. */
export async function withProfiles<Result>(
  root: string,
  body: (profiles: ProfileRegistry) => Promise<Result> | Result,
): Promise<Result> {
  const directory = new DataDirectory(root);
  // Reading creates no directory.
  if (!directory.exists()) return body(noProfiles);
  const catalog = Catalog.open(directory, systemContext());
  try {
    return await body(catalog.profiles);
  } finally {
    await catalog.close();
  }
}
