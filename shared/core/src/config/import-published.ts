import { refuseSecrets } from './check-secrets.js';
import { type Place, ProblemList } from './config-problem.js';
import { editedDocument } from './edit-document.js';
import { openProject } from './open-project.js';
import { resolveExtends } from './resolve-extends.js';
import { resolveImports } from './resolve-imports.js';
import type { SourceFiles } from './source-files.js';
import { type Change, translate } from './translate.js';

/** A file of the published format, as one of this format. */
export interface ImportedFile {
  readonly text: string;
  /** What differs from the file that it comes from. */
  readonly changes: readonly Difference[];
}

/** What a key that differs is here, in a sentence, and its place. */
export type Difference = Place & { readonly message: string };

/**
 * Writes a file of the published format as one of this format. Comments, variables and imports stay; what is imported
 * or extended and has to change is written out in its place.
 *
 * @param options.configRoot the directory that imports must be in @default the file's own
 * @throws {ConfigErrors} with everything that cannot be written so
 */
export function importPublished(
  path: string,
  options: { readonly configRoot?: string | undefined },
  disk: SourceFiles,
): ImportedFile {
  const problems = new ProblemList();
  const { text, parsed, directory, context } = openProject(path, options, disk, {
    problems,
    warnings: new ProblemList(),
  });
  const imported = resolveImports(parsed, [{ name: path, realPath: context.realPath }], context);
  const merged = resolveExtends(refuseSecrets(imported, problems), problems);
  const { changes } = translate(merged, problems, new ProblemList());
  if (!problems.isEmpty) throw problems.toError();
  const read = (file: string): string => {
    const content = disk.readText(file);
    return content.ok ? content.text : '';
  };
  const edits = changes.flatMap((change) => change.edits);
  const isWhole = /\bextends\b/.test(text) || changes.some(({ place }) => place.file !== path);
  const inlining = isWhole ? { base: directory, read } : undefined;
  return {
    text: edits.length === 0 ? text : editedDocument(text, edits, inlining),
    changes: inOrder(changes.filter(({ isOfFile }) => !isOfFile)),
  };
}

/** By line, those of one file together. */
function inOrder(changes: readonly Change[]): Difference[] {
  const files = [...new Set(changes.map(({ place }) => place.file))];
  return changes
    .map(({ place, message }) => ({ ...place, message }))
    .sort(
      (one, other) =>
        files.indexOf(one.file) - files.indexOf(other.file) || one.line - other.line || one.column - other.column,
    );
}
