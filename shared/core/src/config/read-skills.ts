import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { skillLimits, skillName } from '@suzumio/contract/model/skill';
import { refuseSecrets } from './check-secrets.js';
import { type ConfigNode, mapScalars, type ScalarNode } from './config-node.js';
import type { Place, ProblemList } from './config-problem.js';
import { type ImportContext, isInside } from './resolve-imports.js';

/**
 * Replaces every skill that is a file's path by that file's name and text, which is left unchanged: nothing in it is
 * imported or substituted.
 *
 * @param directory the base of relative paths
 */
export function readSkillFiles(root: ConfigNode, directory: string, context: ImportContext): ConfigNode {
  return mapSkills(root, (path, scalar) => readSkill(path, scalar, directory, context));
}

/** Refuses skills that are paths: a posted file has to contain their texts. */
export function refuseSkillFiles(root: ConfigNode, problems: ProblemList): ConfigNode {
  return mapSkills(root, (_path, { place }) => {
    const message = 'no file is read for a text that is taken literally: render it first, or write { name, text }';
    problems.add('path-refused', place, message);
    return { kind: 'broken', place };
  });
}

function mapSkills(root: ConfigNode, change: (path: string, scalar: ScalarNode) => ConfigNode): ConfigNode {
  return mapScalars(root, (scalar, path) => {
    const isSkill = path.length === 4 && path[0] === 'agents' && path[2] === 'skills' && typeof path[3] === 'number';
    return isSkill && typeof scalar.value === 'string' ? change(scalar.value, scalar) : scalar;
  });
}

function readSkill(path: string, scalar: ScalarNode, directory: string, context: ImportContext): ConfigNode {
  const { place } = scalar;
  const refuse = (...problem: [code: Parameters<ProblemList['add']>[0], message: string]): ConfigNode => {
    context.problems.add(problem[0], place, `the skill ${path}: ${problem[1]}`);
    return { kind: 'broken', place };
  };
  if (path.trim() === '' || path.includes('\0')) return refuse('value-invalid', 'expected the path of a file');
  const content = context.disk.readText(resolve(directory, path));
  if (!content.ok) return refuse(content.code, content.message);
  const { realPath, text } = content;
  if (!isInside(context.configRoot, realPath)) {
    return refuse(
      'import-outside-root',
      `it leaves the directory that files are kept to, ${context.configRoot}; --config-root names another`,
    );
  }
  const bytes = Buffer.byteLength(text);
  context.budget.bytes -= bytes;
  if (bytes > skillLimits.skillBytes || context.budget.bytes < 0) {
    return refuse('file-too-large', `a skill has at most ${String(skillLimits.skillBytes)} bytes`);
  }
  const name = basename(path);
  if (!skillName.safeParse(name).success) {
    return refuse('value-invalid', 'it needs another name: write { name: …, text: @import(…) }');
  }
  context.files.add(realPath);
  const entry = (value: string, at: Place) => ({
    keyPlace: place,
    value: { kind: 'scalar', value, place: at, style: 'verbatim', source: value } as const,
  });
  const file = isAbsolute(path) ? path : join(dirname(place.file), path);
  const entries = new Map([
    ['name', entry(name, place)],
    ['text', entry(text, { file, line: 1, column: 1 })],
  ]);
  return refuseSecrets({ kind: 'map', entries, place, wholeFile: false }, context.problems);
}
