import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

/** What is started with a program, or served by it. */
const companions = { cli: ['runner', 'web'], 'services/api': ['web'], 'services/turn-worker': ['runner'] };
const services = ['api', 'scheduler', 'toolhost', 'turn-worker'].map((name) => `services/${name}`);

const isCode = /\.([cm]?[jt]s|tsx)$/;
/** A test names by a path what it starts or reads; where no path says so, by packages in a comment. */
const isTest = /(^|\/)test\//;
const literal = /['`](?:\$\{\w+\}\/?)?([^'`\n$]*\/[^'`\n$]*)['`]/g;
/** The entry of a thread. */
const entry = /'(\.{1,2}\/[^'\n]*\.js)'/g;
/** Generated files. */
const made = /(^|\/)(node_modules|dist|\.git|\.cache|\.suzumio|\.built|\.next-[^/]*)$|^cli\/bundle$|^bench\/results$/;
const starts = /^\/\/ Starts: (.*)\.$/gm;

/**
 * Which file of the tree uses which: what it imports; in tests, what else of the tree it names by its path, where a built file
 * stands for its sources; and all of the packages and files after `// Starts:`.
 */
export class Imports {
  #uses = new Map();
  #imported = new Map();
  #files;
  #packages;
  /** The files below each directory. */
  #directories = new Map();

  constructor(files = sourceFiles()) {
    this.#files = new Set(files);
    for (const file of files)
      for (let at = dirname(file); at !== '.'; at = dirname(at)) append(this.#directories, at, file);
    this.#packages = new Map(
      files
        .filter((file) => file.endsWith('/package.json') && !isTest.test(file))
        .map((file) => [JSON.parse(readFileSync(file, 'utf8')).name, dirname(file)]),
    );
    for (const file of files.filter((one) => isCode.test(one))) this.#uses.set(file, this.#usesOf(file));
  }

  /** The files that one uses directly. */
  of(file) {
    return this.#uses.get(file) ?? new Set();
  }

  /** What a file imports: the names that it imports by, each with the files that it leads to, none for what is not ours. */
  importedBy(file) {
    return this.#imported.get(file) ?? [];
  }

  get files() {
    return [...this.#files];
  }

  /** The files that some use, directly or through others, and they themselves. */
  below(roots) {
    return closure(roots, (file) => this.of(file));
  }

  /** The files that use some, directly or through others, and they themselves. */
  above(roots) {
    const users = new Map();
    for (const [user, used] of this.#uses) for (const file of used) append(users, file, user);
    return closure(roots, (file) => users.get(file) ?? []);
  }

  #usesOf(file) {
    const text = readFileSync(file, 'utf8');
    const names = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
    const imported = names.map((name) => ({ name, files: this.#resolve(file, name) }));
    this.#imported.set(file, imported);
    const used = imported.flatMap(({ files }) => files);
    if (isTest.test(file)) {
      for (const [, named] of text.matchAll(literal)) used.push(...this.#named(file, named));
      for (const [, names] of text.matchAll(starts))
        used.push(...names.split(', ').flatMap((name) => this.#program(name)));
    } else {
      const own = file.slice(0, file.indexOf('/src/') + 1);
      for (const [, named] of text.matchAll(entry))
        used.push(...this.#named(file, named).filter((one) => own !== '' && one.startsWith(own)));
    }
    return new Set(used);
  }

  /** The files that an import leads to. */
  #resolve(file, name) {
    if (name.startsWith('.')) return this.#at(join(dirname(file), name));
    const [, scoped, rest = 'index'] = /^(@suzumio\/[^/]+)(?:\/(.*))?$/.exec(name) ?? [];
    const directory = this.#packages.get(scoped);
    return [this.#source(`${directory}/src/${rest}.js`)].filter(Boolean);
  }

  /** The file that a path stands for: the source of what is compiled or bundled from it. */
  #source(path) {
    const stem = path.replace(/\.js$/, '');
    return [path, `${stem}.ts`, `${stem}.tsx`].find((one) => this.#files.has(one));
  }

  /** What a path names, from the directory of the file that has it or from the root. */
  #named(file, path) {
    return [join(dirname(file), path), join(path)]
      .filter((name) => !file.startsWith(name))
      .flatMap((name) => this.#at(name));
  }

  #at(name) {
    if (/^\.cache\/services(\/|$)/.test(name)) return services.flatMap((name) => this.#program(name));
    const [, built, rest = ''] = /^(.+?)(?:\/bundle)?\/dist(?:\/bundle)?(?:\/(.*))?$/.exec(name) ?? [];
    const source = this.#source(built ? `${built}/src/${rest}` : name);
    if (source) return [source, ...(companions[built] ?? []).flatMap((name) => this.#program(name))];
    if (built) return this.#below(`${built}/src`).length > 0 ? this.#program(built) : [];
    return name.includes('/') ? this.#below(name.replace(/\/$/, '')) : [];
  }

  /** All of a package, or a file or directory that is none. */
  #program(name) {
    const sources = [name, ...(companions[name] ?? [])].flatMap((each) => this.#below(`${each}/src`));
    return sources.length > 0 ? sources : this.#files.has(name) ? [name] : this.#below(name);
  }

  #below(directory) {
    return this.#directories.get(directory) ?? [];
  }
}

/** As Git's list would be, where there is no Git either. */
function sourceFiles() {
  return globSync('**/*', { exclude: ({ parentPath, name }) => made.test(join(parentPath, name)), withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative('.', join(parentPath, name)));
}

function append(lists, key, value) {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

function closure(roots, next) {
  const found = new Set(roots);
  for (const file of found) for (const one of next(file)) found.add(one);
  return found;
}
