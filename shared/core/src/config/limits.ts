/** Limits on a project file, far above what a person writes and low enough that no file can tie up a process. */
export const configLimits = {
  /** Bytes of one file. */
  fileBytes: 1024 * 1024,
  /** Bytes of a project file with its imports, each counted as often as it is inserted. */
  totalBytes: 8 * 1024 * 1024,
  /** Values of a project file, with the content of each import and each alias. */
  values: 30_000,
  /** Tokens of one file, as the YAML lexer counts them. */
  lexemes: 200_000,
  /** The nesting of lists and maps in one file. */
  nesting: 64,
  /** The length of a chain of imports. */
  importDepth: 32,
  /** Problems that are reported at once. */
  problems: 200,
  /** Agents of a project, after `count` is expanded. */
  agents: 1000,
  /** Bytes of all agents of a project, after `count` is expanded. */
  agentsBytes: 8 * 1024 * 1024,
  /** Members of all channels of a project, after `count` is expanded. */
  members: 100_000,
  /** Model presets of a project. */
  presets: 500,
} as const;
