/** The result of reading a file; a sentence says why it failed. */
export type FileContent =
  | { readonly ok: true; readonly realPath: string; readonly text: string }
  | {
      readonly ok: false;
      readonly code: 'file-missing' | 'file-not-utf8' | 'file-too-large' | 'file-unreadable';
      readonly message: string;
    };

/** The source of a project file's text, its imports and its skills. */
export interface SourceFiles {
  /** Reads a regular file of at most `configLimits.fileBytes` as UTF-8, without its byte order mark. */
  readText(path: string): FileContent;
  /** The real path of a directory, links followed; undefined where there is none. */
  realDirectory(path: string): string | undefined;
}
