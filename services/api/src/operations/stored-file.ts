import { withoutSecretTexts } from '@suzumio/core/config/agent-env';
import type { Cell } from '@suzumio/store/cell/cell';
import { readSource } from '@suzumio/store/cell/create-project';
import { sourceOf } from '@suzumio/store/projects/config-versions';
import type { ProjectStore } from '@suzumio/store/projects/project-store';

/** The text of a version's file as it is shown; null where it is not there any more. */
export async function fileOf(cell: Cell, store: ProjectStore, version: number): Promise<string | null> {
  const text = await storedText(cell, store, version);
  return text === null ? null : withoutSecretTexts(text);
}

/** The text of a version's file as it is stored. That of the first is a file beside the database. */
export async function storedText(cell: Cell, store: ProjectStore, version: number): Promise<string | null> {
  const text = sourceOf(store.reader, version);
  return text === null && version === 1 ? readSource(cell.directory, store.project) : text;
}
