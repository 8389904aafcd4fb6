import { type FileConfig, fileConfig } from '@suzumio/contract/model/project-config';
import { isEnvValue } from './agent-env.js';
import { refuseExpansion } from './check-expansion.js';
import { type CheckedFile, checkReferences } from './check-references.js';
import { checkLimits } from './check-limits.js';
import { refuseReadingThisMachine } from './check-literal.js';
import { refuseSecrets, refuseSecretVariables } from './check-secrets.js';
import { completeConfig } from './complete-config.js';
import { childOf, type ConfigNode, type ConfigPath, itemsOf, locate, mapScalars, toPlain } from './config-node.js';
import { type Place, ProblemList } from './config-problem.js';
import { type Environment, isReadAtRunTime, substituteEnvironment, unescapeEnvironment } from './environment.js';
import { unescapeImport } from './import-marker.js';
import { configLimits } from './limits.js';
import { openProject } from './open-project.js';
import type { ProjectSource } from './project-source.js';
import { readSkillFiles, refuseSkillFiles } from './read-skills.js';
import { readToolpacks } from './read-toolpacks.js';
import { resolveExtends } from './resolve-extends.js';
import { resolveImports } from './resolve-imports.js';
import { parseTree } from './schema-problems.js';
import type { SourceFiles } from './source-files.js';
import { sourceConfig } from './source-schema.js';
import { isUnread, translate } from './translate.js';
import { fullBudget, readYaml } from './yaml-reader.js';

export interface LoadFileOptions {
  /** The variables for `${NAME}`. */
  readonly env: Environment;
  /** The directory that imports and skills must be in, with symbolic links resolved. @default the file's own */
  readonly configRoot?: string | undefined;
}

/**
 * Reads a project file: parse, imports, environment, `extends`, skills, defaults, validation.
 *
 * @throws {ConfigErrors} with everything that is wrong
 */
export function readProject(path: string, options: LoadFileOptions, disk: SourceFiles): ProjectSource {
  const problems = new ProblemList();
  const said = new Said();
  const { text, parsed, directory, context } = openProject(path, options, disk, { problems, warnings: said.warnings });
  let offered: readonly string[] | undefined;
  const resolved = (): ConfigNode => {
    const imported = resolveImports(parsed, [{ name: path, realPath: context.realPath }], context);
    const isRead = (field: ConfigPath) => !isUnread(field);
    const harmless = refuseSecretVariables(imported, problems, (field) => isRead(field) && !isEnvValue(field));
    const substituted = substituteEnvironment(harmless, options.env, problems, said.warnings, isRead);
    const merged = resolveExtends(refuseSecrets(substituted, problems), problems);
    const packs = readToolpacks(merged, path, directory, { ...context, notes: said.notes });
    offered = packs.tools;
    return readSkillFiles(translate(packs.root, problems, said.notes, offered).root, directory, context);
  };
  const root = isRendered(parsed) ? takeLiterally(parsed, problems) : resolved();
  const config = validate(root, directory, { problems, warnings: said.warnings, offered });
  return sourceOf(config, root, text, [...context.files], said);
}

/**
 * Reads a posted project file. It is taken literally: references to this machine's environment or disk are refused.
 *
 * @throws {ConfigErrors} with everything that is wrong
 */
export function readProjectText(text: string, fileName: string): ProjectSource {
  const problems = new ProblemList();
  const said = new Said();
  if (Buffer.byteLength(text) > configLimits.fileBytes) {
    const message = `a project file has at most ${configLimits.fileBytes} bytes`;
    problems.add('file-too-large', { file: fileName, line: 1, column: 1 }, message);
    throw problems.toError();
  }
  const parsed = readYaml(text, fileName, problems, fullBudget());
  const harmless = refuseSecrets(parsed, problems, { literal: true });
  const posted = isRendered(parsed) ? harmless : translate(harmless, problems, said.notes).root;
  refuseReadingThisMachine(posted, problems);
  const root = takeLiterally(posted, problems);
  const config = validate(root, '/', { problems, warnings: said.warnings });
  return sourceOf(config, root, text, [], said);
}

/** What is said of a file that loads. */
class Said {
  readonly warnings = new ProblemList();
  readonly notes = new ProblemList();
}

function isRendered(root: ConfigNode): boolean {
  return childOf(root, 'rendered') !== undefined;
}

/** Unescapes the tree without resolving anything. */
function takeLiterally(root: ConfigNode, problems: ProblemList): ConfigNode {
  const harmless = refuseSecretVariables(root, problems, isReadAtRunTime);
  const literal = mapScalars(unescapeEnvironment(harmless), (scalar) =>
    typeof scalar.value === 'string' && scalar.style === 'inline'
      ? { ...scalar, value: unescapeImport(scalar.value) }
      : scalar,
  );
  return refuseSkillFiles(refuseSecrets(literal, problems, { literal: true }), problems);
}

function validate(
  root: ConfigNode,
  directory: string,
  { problems, warnings, offered }: Pick<CheckedFile, 'problems' | 'warnings' | 'offered'>,
): FileConfig {
  const rendered = isRendered(root);
  checkReferences(root, { rendered, problems, warnings, offered });
  const complete = rendered ? toPlain(root) : completeSource(root, directory, problems);
  // Every source is parsed in its rendered form: one schema defines a config and its order.
  const config = complete === undefined ? undefined : parseTree(fileConfig, root, complete, problems);
  if (config === undefined || !problems.isEmpty) throw problems.toError();
  checkLimits(config, (path) => locateField(root, config, path), warnings);
  return config;
}

/** Where in its file a field of the completed config is. */
function locateField(root: ConfigNode, config: FileConfig, path: ConfigPath): Place {
  const found = locate(root, isRendered(root) ? path : pathInFile(path, config, root));
  return found.complete ? found.node.place : (found.keyPlace ?? found.node.place);
}

function completeSource(root: ConfigNode, directory: string, problems: ProblemList): FileConfig | undefined {
  const source = parseTree(sourceConfig, root, toPlain(withoutExtensions(root)), problems);
  const config = source !== undefined && problems.isEmpty ? completeConfig(source, directory) : undefined;
  if (config !== undefined) refuseExpansion(root, config, problems);
  return config;
}

/** Keys that begin with `x-` are a place for anchors. */
function withoutExtensions(root: ConfigNode): ConfigNode {
  if (root.kind !== 'map') return root;
  return { ...root, entries: new Map([...root.entries].filter(([key]) => !key.startsWith('x-'))) };
}

function sourceOf(
  config: FileConfig,
  root: ConfigNode,
  sourceText: string,
  files: readonly string[],
  said: Said,
): ProjectSource {
  return {
    config,
    sourceText,
    files,
    warnings: said.warnings.sorted(),
    notes: said.notes.sorted(),
    locate: (path) => locateField(root, config, path),
  };
}

/** The path in its file of a field of the completed config: agents of one entry share it, and `core` may have been added. */
function pathInFile(path: ConfigPath, config: FileConfig, root: ConfigNode): ConfigPath {
  const [section, entry, ...rest] = path;
  const agent = section === 'agents' && typeof entry === 'string' ? config.agents[entry] : undefined;
  if (agent) return ['agents', agent.base, ...rest];
  if (section !== 'tools' || entry !== 'toolpacks' || typeof rest[0] !== 'number') return path;
  const listed = itemsOf(childOf(childOf(root, 'tools'), 'toolpacks')).length;
  const added = config.tools.toolpacks.length - listed;
  return ['tools', 'toolpacks', rest[0] - added, ...rest.slice(1)];
}
