import * as z from 'zod';
import { functionName } from '../conversation.js';
import { isShallow, tooDeep } from '../nesting.js';
import { refersToItself } from '../model-chat.js';
import { builtInTools, isBuiltInToolpack } from '../tool-names.js';
import { firstFault, inWords } from './in-words.js';

/** The file that makes a directory a toolpack. */
export const toolpackFileName = 'suzumio.toolpack.json';

/** A toolpack's id. It is the name of a directory in the sandbox. */
export const toolpackId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, {
  error: 'expected 1 to 63 letters, digits, dots, hyphens and underscores, the first a letter or digit',
});

/** The most tools of one toolpack, and the longest of their schemas as JSON. */
const maxTools = 64;
const maxSchemaChars = 32 * 1024;

/** A path below a toolpack's directory. */
export const toolpackPath = z
  .string()
  .min(1)
  .max(400)
  .refine(
    (path) =>
      !/[\p{Cc}\\]/u.test(path) && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..'),
    'expected a path in the toolpack, without . and ..',
  );

const modulePath = z
  .string()
  .transform((path) => path.replace(/^\.\//, ''))
  .pipe(toolpackPath.regex(/\.mjs$/, { error: 'expected the path of a module that ends with .mjs' }));

const toolpackTool = z.object({
  /** A model calls it by this name with `_` for each dot, in 64 characters. */
  name: z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/, {
    error: 'expected 1 to 64 letters, digits, dots, hyphens and underscores',
  }),
  description: z.string().max(8_000).default(''),
  inputSchema: z
    .record(z.string(), z.unknown())
    .refine(isShallow, { error: tooDeep, abort: true })
    .refine((schema) => JSON.stringify(schema).length <= maxSchemaChars, {
      error: `at most ${String(maxSchemaChars)} characters as JSON`,
    })
    .refine(refersToItself, { error: 'expected "$ref" to begin with #' })
    // A provider refuses every question with a tool of another schema.
    .transform((schema) => ({ type: 'object', ...schema }))
    .pipe(
      z.looseObject({
        type: z.literal('object', { error: 'expected "object": the input of a tool has members' }),
        properties: z.record(z.string(), z.union([z.looseObject({}), z.boolean()], 'expected a schema')).optional(),
        required: z.array(z.string()).optional(),
      }),
    )
    .default({ type: 'object' }),
});

/** What {@link toolpackFileName} has in it. What is not read here may stand beside it. */
export const toolpackManifest = z.object({
  id: toolpackId,
  /** @default `runner.mjs` */
  runner: modulePath.optional(),
  /** @default `controller.mjs`, where there is one */
  controller: modulePath.optional(),
  tools: z.array(toolpackTool).max(maxTools),
});
export type ToolpackManifest = z.infer<typeof toolpackManifest>;

/** A toolpack's manifest, and which of its modules there are. */
export interface ReadToolpack {
  readonly id: string;
  readonly tools: ToolpackManifest['tools'];
  /** Its modules' paths below its directory; undefined where it has none. */
  readonly runner: string | undefined;
  readonly controller: string | undefined;
}

/** What is wrong with a manifest, in a sentence that says what would be right, and where. */
export interface ManifestFault {
  readonly fault: string;
  readonly at: readonly PropertyKey[];
}

/**
 * Reads a manifest.
 *
 * @param has whether the toolpack has a file, by its path
 */
export function readManifest(text: string, has: (path: string) => boolean): ReadToolpack | ManifestFault {
  let json: unknown;
  try {
    // Some editors begin a file with a byte order mark.
    json = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    return {
      fault: `${toolpackFileName} is not JSON (${error instanceof Error ? error.message : String(error)})`,
      at: [],
    };
  }
  const parsed = toolpackManifest.safeParse(json, { error: inWords });
  if (!parsed.success) {
    return { fault: firstFault(parsed.error, toolpackFileName), at: parsed.error.issues[0]?.path ?? [] };
  }
  const { id, tools, runner = 'runner.mjs', controller = 'controller.mjs' } = parsed.data;
  if (isBuiltInToolpack(id)) {
    return { fault: `id: ${id} is the name of a toolpack that comes with Suzumio`, at: ['id'] };
  }
  const missing = [parsed.data.controller, tools.length > 0 ? runner : parsed.data.runner].find(
    (path) => path !== undefined && !has(path),
  );
  if (missing !== undefined) return { fault: `there is no module ${missing}: write it, or name another one`, at: [] };
  const fault = nameFault(tools.map(({ name }) => name));
  if (fault !== undefined) return { fault: `tools: ${fault}`, at: ['tools'] };
  return {
    id,
    tools,
    runner: has(runner) ? runner : undefined,
    controller: has(controller) ? controller : undefined,
  };
}

/**
 * What is wrong with the names of all tools of a project's toolpacks, in a sentence: two that a model could not tell apart, or
 * one that comes with Suzumio.
 */
export function nameFault(names: readonly string[]): string | undefined {
  const seen = new Map(builtInTools.map((tool) => [functionName(tool), tool]));
  for (const name of names) {
    const other = seen.get(functionName(name));
    if (other === name && builtInTools.includes(name)) return `${name} is a tool that comes with Suzumio`;
    if (other !== undefined) {
      return other === name ? `there are two tools ${name}` : `a model cannot tell ${name} from ${other}`;
    }
    seen.set(functionName(name), name);
  }
  return undefined;
}
