import { fileURLToPath } from 'node:url';
import { readdir, readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { errorCodes } from '@suzumio/contract/errors/codes';
import { allOperations } from '@suzumio/contract/operations/operations';
import { commands } from '../site/reference/commands.js';
import type { Description } from '../site/reference/description.js';
import { exampleBody } from '../site/reference/example.js';
import { entriesOf } from '../site/reference/entries.js';
import { projectFileKeys, toldIn } from '../site/reference/keys.js';
import { makeSite } from '../site/site.js';
import { find, type SearchIndex } from '../src/docs/find.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFile(`${root}${path}`, 'utf8');
const template = `<!doctype html><html lang="en"><head><link rel="icon" href="./icon.svg"><title>Suzumio</title>
<script type="module" src="./assets/docs.js"></script></head><body></body></html>`;

let site: Map<string, string | Buffer>;
let pages: Map<string, string>;
let description: Description;
beforeAll(async () => {
  site = makeSite(root, template);
  pages = new Map(
    [...site].flatMap(([file, content]) =>
      typeof content === 'string' && file.endsWith('.html') ? [[file.slice(0, -'.html'.length), content]] : [],
    ),
  );
  description = JSON.parse(await read('docs/openapi.json')) as Description;
});

const idsOf = (html: string) => new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id));

describe('the site', () => {
  test('has no dead link, picture or anchor', () => {
    // What the server answers besides the site, and what the template loads.
    const others = new Set(['', 'openapi.json', 'sign-in', 'icon.svg', 'assets/docs.js', 'docs']);
    const dead: string[] = [];
    let count = 0;
    for (const [path, html] of pages) {
      const base = path === 'docs/404' ? '/' : `/${path}`;
      for (const [, target = ''] of html.matchAll(/(?:href|src)="([^"]*)"/g)) {
        if (/^(https?:|mailto:)/.test(target)) continue;
        count += 1;
        const { pathname, hash } = new URL(target.replaceAll('&amp;', '&'), `http://site${base}`);
        const led = target.startsWith('#') ? path : pathname.slice(1);
        const page = pages.get(led);
        const isThere = page !== undefined || site.has(led) || others.has(led);
        const anchor = decodeURIComponent(hash.slice(1));
        if (!isThere || (anchor !== '' && !idsOf(page ?? '').has(anchor))) dead.push(`${path}: ${target}`);
      }
    }
    expect(dead).toEqual([]);
    expect(count).toBeGreaterThan(5_000);
  });

  test('leads to no address that a proxy in front would not see: every link is relative', () => {
    for (const [path, html] of pages) {
      expect([path, ...html.matchAll(/(?:href|src|action)="\/[^"]*"/g)]).toEqual([path]);
    }
  });

  test('has nothing that the policy of pages forbids, and ids that are unique', () => {
    for (const [path, html] of pages) {
      expect([path, /<style|<script(?! type="module" src=)|\sstyle=|\son\w+="|javascript:/i.exec(html)?.[0]]).toEqual([
        path,
        undefined,
      ]);
      const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id);
      expect([path, ids.filter((id, index) => ids.indexOf(id) !== index)]).toEqual([path, []]);
    }
  });

  test('has every page of docs, and all of them but decisions in its list', async () => {
    const files = (await readdir(`${root}docs`)).filter((name) => name.endsWith('.md'));
    const start = pages.get('docs') ?? '';
    for (const file of files) expect(start).toContain(`class="rail-link" href="./docs/${posix.parse(file).name}"`);
    const decisions = (await readdir(`${root}docs/decisions`)).filter((name) => /^\d{4}-/.test(name));
    for (const name of decisions) expect([...pages.keys()]).toContain(`docs/decisions/${posix.parse(name).name}`);
    const index = await read('docs/decisions/README.md');
    expect([...index.matchAll(/\]\((\d{4}-[^)]+)\)/g)].map(([, name]) => name)).toEqual(decisions.toSorted());
  });
});

describe('the reference', () => {
  test('has each operation, with an example that the operation takes', () => {
    const entries = entriesOf(description);
    expect(entries.map(({ operation }) => operation.id).sort()).toEqual(allOperations.map(({ id }) => id).sort());
    for (const { operation, described } of entries) {
      const page = pages.get(`docs/api/${operation.group.toLowerCase()}`) ?? '';
      expect(page).toContain(`id="${operation.id}"`);
      expect(pages.get('docs/api')).toContain(`id="${operation.id}"`);
      const body = exampleBody(described, description) ?? {};
      if (operation.body !== undefined) {
        expect({ id: operation.id, error: operation.body.safeParse(body).error?.message }).toEqual({
          id: operation.id,
        });
      }
    }
  });

  test('names commands that the page of the command has, for every operation that the command asks for', async () => {
    const told = new Set(
      [...(await read('docs/cli.md')).matchAll(/^\| `([^|]+(?:\\\|[^|]+)?)`/gm)].map(([, command = '']) =>
        (command.split('`')[0] ?? '').replaceAll('\\|', '|'),
      ),
    );
    for (const command of Object.values(commands)) expect([...told]).toContain(command);
    const sources = await readdir(`${root}cli/src`, { recursive: true });
    const texts = await Promise.all(
      sources.filter((name) => name.endsWith('.ts')).map((name) => read(`cli/src/${name}`)),
    );
    const asked = new Set(
      texts.flatMap((text) => [...text.matchAll(/(?:\bapi|\))\.(\w+)\(/g)].map(([, id = '']) => id)),
    );
    // The commands ask for these besides what they are about.
    const besides = ['getHealth', 'getSystem', 'listCellEvents'];
    const ids = allOperations.map(({ id }) => id).filter((id) => asked.has(id) && !besides.includes(id));
    expect(ids.filter((id) => !(id in commands))).toEqual([]);
  });

  test('has each code and each key, and the meaning of keys that the page of the project file explains', async () => {
    for (const code of Object.keys(errorCodes)) expect(pages.get('docs/errors')).toContain(`id="${code}"`);
    const keys = projectFileKeys();
    const html = pages.get('docs/project-file-keys') ?? '';
    for (const { path } of keys) expect(html).toContain(`<code>${path}</code>`);
    const known = new Set(keys.map(({ path }) => path));
    const told = [...toldIn(await read('docs/project-file.md')).keys()];
    expect(told.filter((path) => known.has(path)).length).toBeGreaterThan(60);
    expect(html).toContain('The task, which is part of every prompt');
  });
});

describe('the search', () => {
  const index = () => JSON.parse(String(site.get('docs/search.json'))) as SearchIndex;

  test('finds what it is asked for first', () => {
    const first = (words: string) => find(index(), words, 5).map(({ path, anchor }) => `${path}#${anchor}`);
    expect(first('request changes')).toContain('docs/api/projects#requestChanges');
    expect(first('signing in')[0]).toBe('docs/access#signing-in-to-the-page');
    expect(first('report-version-refused')[0]).toBe('docs/errors#report-version-refused');
    expect(first('mock scri')).toContain('docs/project-file#a-mock-script');
    expect(first('nosuchword')).toEqual([]);
    expect(first('  ')).toEqual([]);
  });

  test('is bounded: the index, what is asked, and what is shown', () => {
    expect(Buffer.byteLength(String(site.get('docs/search.json')))).toBeLessThan(1_000_000);
    expect(find(index(), 'the', 20)).toHaveLength(20);
    expect(find(index(), 'a '.repeat(100_000), 20).length).toBeLessThanOrEqual(20);
    for (const { excerpt } of find(index(), 'the', 20)) expect(excerpt.length).toBeLessThan(130);
  });
});
