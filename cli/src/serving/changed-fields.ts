import { isDeepStrictEqual } from 'node:util';
import type { FileConfig } from '@suzumio/contract/model/project-config';

/** The fields in which two versions of a project file differ, by their paths; what only one of them has is one field. */
export function changedFields(before: FileConfig, after: FileConfig): string[] {
  return differences(before, after, []).sort();
}

function differences(before: unknown, after: unknown, path: readonly string[]): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isMap(before) || !isMap(after)) return [path.join('.')];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => differences(before[key], after[key], [...path, key]));
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
