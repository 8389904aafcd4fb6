import { dirname, isAbsolute, join, resolve } from 'node:path';
import {
  type ManifestFault,
  nameFault,
  readManifest,
  type ReadToolpack,
  toolpackFileName,
} from '@suzumio/protocol/toolpacks/manifest';
import { childOf, type ConfigNode, type ConfigPath, itemsOf, locate, type MapNode, textOf } from './config-node.js';
import { type Place, ProblemList } from './config-problem.js';
import type { ImportContext } from './resolve-imports.js';
import { fullBudget, readYaml } from './yaml-reader.js';

/** A tree whose local toolpacks have their ids, and the tools of these. */
export interface WithToolpacks {
  readonly root: ConfigNode;
  /** The tools of all local toolpacks. */
  readonly tools: readonly string[];
}

/** Where what a toolpack was read from is said to be. */
interface Reading {
  readonly node: MapNode;
  readonly path: string;
  /** The manifest as messages name it. */
  readonly file: string;
  readonly text: string;
}

/**
 * Reads the manifests of local toolpacks, which give an entry its id and a file the names of its tools. What no policy
 * decides on yet is that they are read: nothing of them is run.
 *
 * @param file the project file as messages name it
 * @param directory the base of relative paths
 */
export function readToolpacks(
  root: ConfigNode,
  file: string,
  directory: string,
  context: ToolpackContext,
): WithToolpacks {
  const listed = childOf(childOf(root, 'tools'), 'toolpacks');
  if (listed?.kind !== 'list') return { root, tools: [] };
  const reader = new ToolpackReader(file, directory, context);
  const items = itemsOf(listed).map((node) => reader.read(node));
  return { root: withList(root, { ...listed, items }), tools: reader.tools };
}

export type ToolpackContext = Pick<ImportContext, 'problems' | 'disk'> & { readonly notes: ImportContext['problems'] };

class ToolpackReader {
  readonly tools: string[] = [];
  readonly #ids = new Set<string>();

  constructor(
    private readonly file: string,
    private readonly directory: string,
    private readonly context: ToolpackContext,
  ) {}

  read(node: ConfigNode): ConfigNode {
    const at = childOf(node, 'path');
    const path = textOf(at);
    if (node.kind !== 'map' || at === undefined || path === undefined || path.trim() === '') return node;
    const broken = { kind: 'broken', place: node.place } as const;
    const { problems, disk } = this.context;
    if (/^https?:/i.test(path)) {
      problems.add('path-refused', at.place, `the toolpack ${path}: expected a directory; nothing is fetched`);
      return broken;
    }
    const inPack = (name: string) => join(resolve(this.directory, path.trim()), name);
    const content = disk.readText(inPack(toolpackFileName));
    if (!content.ok) {
      problems.add(content.code, at.place, `the toolpack ${path}: ${content.message}`);
      return broken;
    }
    const file = isAbsolute(path) ? inPack(toolpackFileName) : join(dirname(this.file), path.trim(), toolpackFileName);
    const reading = { node, path, file, text: content.text };
    const pack = readManifest(content.text, (name) => disk.readText(inPack(name)).ok);
    const wrong = 'fault' in pack ? pack : this.#clash(pack);
    if (wrong !== undefined) {
      problems.add('toolpack-invalid', placeIn(reading, wrong), `the toolpack ${path}: ${wrong.fault}`);
      return broken;
    }
    const { id } = pack as ReadToolpack;
    const given = childOf(node, 'id');
    if (given !== undefined && textOf(given) !== id) {
      const message = `the toolpack ${path} calls itself ${id}: write id: ${id}, or leave it out`;
      problems.add('value-invalid', given.place, message);
      return broken;
    }
    this.#note(reading, pack as ReadToolpack, (name) => textIn(disk.readText(inPack(name))));
    return given === undefined ? withId(node, id) : node;
  }

  #clash({ id, tools }: ReadToolpack): ManifestFault | undefined {
    const isTaken = this.#ids.has(id.toLowerCase());
    this.#ids.add(id.toLowerCase());
    if (isTaken) return { fault: `id: there are two toolpacks ${id}`, at: ['id'] };
    this.tools.push(...tools.map(({ name }) => name));
    const fault = nameFault(this.tools);
    return fault === undefined ? undefined : { fault: `tools: ${fault}`, at: ['tools'] };
  }

  /** What of a toolpack has no effect here. */
  #note(reading: Reading, { id, controller }: ReadToolpack, textOfModule: (name: string) => string): void {
    const { notes } = this.context;
    if (/"webui"\s*:\s*\[\s*[^\]\s]/.test(reading.text)) {
      const message = `webui of the toolpack ${id}: the page shows no panels or actions of toolpacks`;
      notes.add('key-without-effect', placeOfKey(reading, 'webui'), message);
    }
    const hook = controller && /\b(?:schedulerTick|createSchedulerToolpack)\b/.exec(textOfModule(controller))?.[0];
    if (hook) {
      const message = `${hook} of the toolpack ${id}: nothing but mail wakes an agent here, so it is not called`;
      notes.add('key-without-effect', { ...reading.node.place }, message);
    }
  }
}

function textIn(content: ReturnType<ToolpackContext['disk']['readText']>): string {
  return content.ok ? content.text : '';
}

/** Where a manifest has a fault: at the key of what is wrong, or of what it is missing in. */
function placeIn({ file, text }: Reading, { fault, at }: ManifestFault): Place {
  const said = /\(line (\d+) column (\d+)\)/.exec(fault);
  if (at.length === 0) return { file, line: Number(said?.[1] ?? 1), column: Number(said?.[2] ?? 1) };
  const tree = readYaml(text, file, new ProblemList(), fullBudget());
  const { keyPlace, node } = locate(tree, at as ConfigPath);
  return keyPlace ?? node.place;
}

function placeOfKey({ file, text }: Reading, key: string): Place {
  const before = text.slice(0, Math.max(0, text.indexOf(`"${key}"`)));
  const line = before.split('\n').length;
  return { file, line, column: before.length - (before.lastIndexOf('\n') + 1) + 1 };
}

function withId(node: MapNode, id: string): ConfigNode {
  const value = { kind: 'scalar', value: id, place: node.place, style: 'verbatim', source: id } as const;
  return { ...node, entries: new Map([['id', { keyPlace: node.place, value }], ...node.entries]) };
}

function withList(root: ConfigNode, list: ConfigNode): ConfigNode {
  if (root.kind !== 'map') return root;
  const tools = root.entries.get('tools');
  if (tools?.value.kind !== 'map') return root;
  const packs = tools.value.entries.get('toolpacks');
  if (packs === undefined) return root;
  const value = {
    ...tools.value,
    entries: new Map([...tools.value.entries, ['toolpacks', { ...packs, value: list }]]),
  };
  return { ...root, entries: new Map([...root.entries, ['tools', { ...tools, value }]]) };
}
