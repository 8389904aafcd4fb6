import type { ReactNode } from 'react';
import { projectFileSchema } from '@suzumio/core/config/file-schema';
import { code, h, markup, prose, table } from '../element.js';
import { anchors, type Section, type Source } from '../page.js';
import type { JsonSchema } from './description.js';
import { typeOf } from './schema-view.js';

/** What the page of the project file says of a key. */
interface Told {
  meaning: string;
  preset: string;
}

interface Key {
  /** With `.` between names; `*` is any name, `[]` an entry of a list. */
  path: string;
  schema: JsonSchema;
  required: boolean;
}

const maxDepth = 8;

/** Every key of a project file, from its JSON Schema. */
export function projectFileKeys(): Key[] {
  return keysOf(projectFileSchema() as Record<string, unknown>);
}

function keysOf(schema: JsonSchema, prefix = '', depth = 1): Key[] {
  if (depth > maxDepth) return [];
  const named = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    return [
      { path, schema: field, required: schema.required?.includes(name) ?? false },
      ...keysOf(field, path, depth + 1),
    ];
  });
  const { additionalProperties, items, anyOf = [] } = schema;
  const others = typeof additionalProperties === 'object' ? keysOf(additionalProperties, `${prefix}.*`, depth + 1) : [];
  const entries = items ? keysOf(items, `${prefix}[]`, depth + 1) : [];
  const choices = anyOf.flatMap((choice) => keysOf(choice, prefix, depth));
  return uniquely([...named, ...others, ...entries, ...choices]);
}

function uniquely(keys: readonly Key[]): Key[] {
  return [...new Map(keys.toReversed().map((key) => [key.path, key])).values()].reverse();
}

/** What the tables of the page of the project file say, by the path of the key. */
export function toldIn(markdown: string): Map<string, Told> {
  const told = new Map<string, Told>();
  let prefix = '';
  for (const line of markdown.split('\n')) {
    const [, heading] = /^#{2,3} (.*)$/.exec(line) ?? [];
    if (heading !== undefined) {
      const name = /^`([^`]+)`$/.exec(heading)?.[1] ?? '';
      prefix = name === '' ? '' : name === 'agents' ? 'agents.*.' : `${name}.`;
    }
    const cells = /^\| `/.test(line)
      ? line
          .slice(1, -1)
          .split(/(?<!\\)\|/)
          .map((cell) => cell.trim())
      : [];
    const [names = '', meaning = '', preset = ''] = cells;
    for (const [, name = ''] of names.matchAll(/`([^`]+)`/g)) {
      if (!told.has(prefix + name)) told.set(prefix + name, { meaning: plainly(meaning), preset: plainly(preset) });
    }
  }
  return told;
}

/** Links as their words: the page that the words come from has them. */
function plainly(cell: string): string {
  return cell.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('\\|', '|');
}

/** Every key of a project file: its type by the schema, its meaning by the page that explains it. */
export function keysPage(explanation: string): Source {
  return {
    path: 'docs/project-file-keys',
    title: 'Keys of a project file',
    group: 'Reference',
    render({ root }) {
      const told = toldIn(explanation);
      const groups = Map.groupBy(projectFileKeys(), ({ path }) => path.split(/[.[]/)[0] ?? '');
      const anchorOf = anchors();
      const sections: Section[] = [
        { anchor: anchorOf('Keys of a project file'), title: 'Keys of a project file', level: 1, text: 'schema' },
      ];
      const parts = [...groups].flatMap(([name, keys]): ReactNode[] => {
        const anchor = anchorOf(name);
        sections.push({ anchor, title: name, level: 2, text: keys.map(({ path }) => path).join(' ') });
        const rows = keys.map(({ path, schema, required }) => {
          const { meaning = '', preset = '' } = told.get(path) ?? {};
          return [
            h('span', null, code(path), ...(required ? [' ', h('span', { className: 'quiet' }, 'required')] : [])),
            typeOf(schema, root),
            h('span', null, ...prose(meaning)),
            h('span', null, ...prose(/required/.test(preset) ? '' : preset)),
          ];
        });
        return [h('h2', { id: anchor }, code(name)), table(['Key', 'Type', 'Meaning', 'Default'], rows)];
      });
      return {
        html: markup(
          h('h1', { id: 'keys-of-a-project-file' }, 'Keys of a project file'),
          h(
            'p',
            null,
            'From the JSON Schema that ',
            code('suzumio config schema'),
            ' prints. ',
            code('*'),
            ' stands for a name of yours, ',
            code('[]'),
            ' for an entry of a list. ',
            h('a', { href: `${root}docs/project-file` }, 'The project file'),
            ' explains how they belong together.',
          ),
          ...parts,
        ),
        sections,
      };
    },
  };
}
