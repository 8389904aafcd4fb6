import { isAbsolute } from 'node:path';
import { isGitUrl } from '@suzumio/contract/model/workspace-config';
import { childOf, type ConfigNode, entriesOf, itemsOf, mapScalars, textOf } from './config-node.js';
import type { ProblemList } from './config-problem.js';
import { visitVariables } from './environment.js';
import { importPathOf } from './import-marker.js';

/**
 * Refuses references to this machine's environment or disk in a posted file. Such a file has to be rendered first,
 * where its author's files and variables are.
 */
export function refuseReadingThisMachine(root: ConfigNode, problems: ProblemList): void {
  visitVariables(root, (name, place, path) => {
    const right = path.at(-1) === 'baseURL' ? `baseURLEnv: ${name}` : '$${';
    const message = `\${${name}} is not substituted in a file that is taken literally: render it first, or write ${right}`;
    problems.add('variable-refused', place, message);
  });
  mapScalars(root, (scalar) => {
    if (typeof scalar.value === 'string' && scalar.style === 'inline' && importPathOf(scalar.value) !== undefined) {
      const message = 'nothing is imported into a file that is taken literally: render it first, or write @@import(…)';
      problems.add('import-refused', scalar.place, message);
    }
    return scalar;
  });
  const extending = root.kind === 'map' ? root.entries.get('extends') : undefined;
  if (extending !== undefined) {
    const message = 'a file that is taken literally extends nothing: render it first';
    problems.add('extends-refused', extending.keyPlace, message);
  }
  for (const node of hostPaths(root)) {
    const path = textOf(node);
    if (path === undefined || isAbsolute(path)) continue;
    const message = `the path ${path} is relative to a file that is not on this machine: write it as an absolute path`;
    problems.add('path-refused', node.place, message);
  }
}

/** The values of a tree that are paths of the host. */
function hostPaths(root: ConfigNode): ConfigNode[] {
  const agents = entriesOf(childOf(root, 'agents')).map(([, entry]) => entry.value);
  const docker = childOf(childOf(root, 'backend'), 'docker');
  const mounts = [docker, ...agents].flatMap((node) => itemsOf(childOf(node, 'mounts')));
  const paths = [
    ...mounts.map((mount) => childOf(mount, 'source')),
    ...agents.map((agent) => childOf(childOf(agent, 'workspace'), 'from')),
    ...agents
      .map((agent) => childOf(childOf(agent, 'workspace'), 'git'))
      .filter((node) => !isGitUrl(textOf(node) ?? '')),
    ...itemsOf(childOf(childOf(root, 'tools'), 'toolpacks')).map((pack) => childOf(pack, 'path')),
  ];
  return paths.filter((node) => node !== undefined);
}
