import * as z from 'zod';
import { plainText } from '../plain-text.js';
import { countUpTo, defineSandboxTool, sandboxPath, upTo } from './sandbox-tool.js';

// Names, defaults and bounds are those of the tools that Suzumio has published; what is beyond them is optional.

const createDirs = z.boolean().default(false).describe('Create missing parent directories.');

export const fileRead = defineSandboxTool({
  name: 'file.read',
  description:
    'Read a file of the workspace or a mount as numbered lines, or list a directory. For a large file, read ranges with ' +
    'offset and limit. Prefer this over cat, head, tail and sed.',
  input: z.strictObject({
    path: sandboxPath.describe('Relative to the workspace, or absolute below one of the roots.'),
    offset: upTo(Number.MAX_SAFE_INTEGER, 1).describe('The first line, counted from 1.'),
    limit: upTo(2000, 200).describe('How many lines or entries, 2000 at most.'),
    column: countUpTo(Number.MAX_SAFE_INTEGER)
      .optional()
      .describe('Shows one line, from this byte on, counted from 1: for a line too long to be shown whole.'),
    maxBytes: upTo(100_000, 50_000).describe('How many bytes of output, 100000 at most.'),
  }),
});

export const fileWrite = defineSandboxTool({
  name: 'file.write',
  description:
    'Write a whole file, over what is there. For new files and full rewrites; for a change of an existing file, prefer ' +
    'file.patch.',
  input: z.strictObject({ path: sandboxPath, content: z.string(), createDirs }),
});

const replacement = {
  search: z.string().min(1).describe('Exact text of the file, with its white space; it must occur once.'),
  replace: z.string().describe('What takes its place.'),
  replaceAll: z.boolean().default(false).describe('Replace every occurrence.'),
};

const operation = z
  .strictObject({
    op: z.enum(['add', 'update', 'delete']),
    path: sandboxPath,
    content: z.string().optional().describe('add: the whole file.'),
    search: replacement.search.optional(),
    replace: replacement.replace.optional(),
    replaceAll: replacement.replaceAll,
    createDirs,
  })
  .superRefine(({ op, content, search }, context) => {
    if (op === 'add' && content === undefined) context.addIssue('add needs content');
    if (op === 'update' && search === undefined) context.addIssue('update needs search');
  });

export const filePatch = defineSandboxTool({
  name: 'file.patch',
  description:
    'Change files: all that one call names, or none. Give one of: patch, a unified diff as of git diff (several files, new ' +
    'ones, deletions and renames; context must match exactly, line numbers may be off); path with search and replace; or ' +
    'operations, a list of add, update and delete. Read a file before you change it.',
  input: z
    .strictObject({
      patch: z.string().min(1).optional().describe('A unified diff. Paths are relative to the workspace.'),
      path: sandboxPath.optional().describe('The file that search and replace are for.'),
      search: replacement.search.optional(),
      replace: replacement.replace.optional(),
      replaceAll: replacement.replaceAll,
      operations: z.array(operation).min(1).max(500).optional(),
    })
    .superRefine(({ patch, path, search, replace, operations }, context) => {
      const ways = [patch, search ?? replace, operations].filter((way) => way !== undefined).length;
      if (ways !== 1) context.addIssue('give exactly one of patch, search with replace, and operations');
      if (search === undefined && replace !== undefined) context.addIssue('replace needs search');
      if ((path === undefined) !== (search === undefined)) context.addIssue('path and search go together');
    }),
});

export const fileApply = defineSandboxTool({
  name: 'file.apply',
  description:
    'Apply a published patch to the workspace: all of it, or nothing. Context must match exactly, line numbers may be off.',
  input: z.strictObject({
    artifact: plainText.min(1).max(200).describe('The id of the artifact, or its name for the newest of that name.'),
  }),
});

export const fileList = defineSandboxTool({
  name: 'file.list',
  description: 'List a directory with kinds and sizes: one level, or everything below it.',
  input: z.strictObject({
    path: sandboxPath.default('.'),
    recursive: z.boolean().default(false),
    maxEntries: upTo(2000, 500).describe('How many entries, 2000 at most.'),
    gitignore: z.boolean().default(false).describe('Leave out what .gitignore names.'),
  }),
});

export const fileSearch = defineSandboxTool({
  name: 'file.search',
  description:
    'Search files for a regular expression, with ripgrep: file, line number and line of each match. What .gitignore names ' +
    'is left out unless ignored is true.',
  input: z.strictObject({
    pattern: plainText.min(1).max(10_000).describe('A regular expression, or exact text with literal.'),
    path: sandboxPath.default('.').describe('A directory, or one file.'),
    glob: plainText.min(1).max(1000).optional().describe('Only files that match, such as *.ts or src/**/*.py.'),
    literal: z.boolean().default(false),
    ignoreCase: z.boolean().default(false),
    context: z.int().min(0).max(10).default(0).describe('Lines shown before and after each match.'),
    ignored: z.boolean().default(false).describe('Search what .gitignore names, too.'),
    maxMatches: upTo(1000, 100).describe('How many matching lines, 1000 at most.'),
    maxBytes: upTo(100_000, 40_000).describe('How many bytes of output, 100000 at most.'),
  }),
});
