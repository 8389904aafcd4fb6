/** Bounds on a project file, far above what a person writes and low enough that no file can tie up a process. */
export const configLimits = {
  /** Bytes of one file. */
  fileBytes: 1024 * 1024,
  /** Bytes of a project file with everything that it imports, each import counted as often as it is inserted. */
  totalBytes: 8 * 1024 * 1024,
  /** Values of a project file, each import and each alias counted with all that it holds. */
  values: 30_000,
  /** Words and signs of one file, as the YAML lexer counts them. */
  lexemes: 200_000,
  /** Lists and maps inside one another in one file. */
  nesting: 64,
  /** Files importing one another. */
  importDepth: 16,
  /** Problems that are told of at once. */
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
