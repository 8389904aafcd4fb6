import { resolve } from 'node:path';
import { isMap, isScalar, isSeq, parseDocument, visit } from 'yaml';
import { isGitUrl } from '@suzumio/contract/model/workspace-config';
import { importPathOf } from './import-marker.js';

/** How a file on a disk is made one that needs no other. */
export interface SelfContainedOptions {
  /** The directory of the file; what it names relative to that becomes absolute. */
  readonly directory: string;
  /** Reads an imported file. */
  readonly read: (path: string) => string;
  /** The name that the project is to have. @default its own */
  readonly name?: string | undefined;
  /** What turns are to run as. @default what the file says */
  readonly backend?: 'process' | undefined;
}

/** A project file with what it imports in its place, so that it can be posted. Comments stay; `extends` is not resolved. */
export function selfContained(text: string, { directory, read, name, backend }: SelfContainedOptions): string {
  const document = parseDocument(text);
  visit(document, {
    Scalar: (_key, { value }) => {
      const path = typeof value === 'string' ? importPathOf(value) : undefined;
      if (path === undefined) return undefined;
      const imported = read(resolve(directory, path));
      const node = /\.(?:ya?ml|json)$/.test(path) ? parseDocument(imported).contents : document.createNode(imported);
      return node ?? undefined;
    },
    Pair: (_key, { key, value }) => {
      if (!isScalar(key)) return undefined;
      if (key.value === 'workspace') makeAbsolute(value, ['from', 'git'], directory);
      if (key.value === 'toolpacks' && isSeq(value)) {
        for (const pack of value.items) makeAbsolute(pack, ['path'], directory);
      }
      return undefined;
    },
  });
  if (name !== undefined) document.set('name', name);
  if (backend !== undefined) document.setIn(['backend', 'kind'], backend);
  return document.toString({ lineWidth: 0 });
}

function makeAbsolute(node: unknown, fields: readonly string[], directory: string): void {
  if (!isMap(node)) return;
  for (const field of fields) {
    const place = node.get(field);
    if (typeof place === 'string' && !isGitUrl(place)) node.set(field, resolve(directory, place));
  }
}
