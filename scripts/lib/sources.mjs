import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import jsTokens from 'js-tokens';

/** Prose, data and pictures. Every other file is source, whatever its name. */
const notSource = /\.(md|json|txt|csv|png|svg)$|(^|\/)(LICENSE|\.[a-z]+ignore|\.editorconfig|\.npmrc)$/;
const grouped = new Set(['shared', 'services']);

/** Every source file that Git tracks or would add, with its package. */
export function sources() {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 26 }).split('\0');
  const paths = listed.filter((path) => path !== '' && !notSource.test(path) && existsSync(path));
  return paths.map((path) => ({ path, package: packageOf(path) }));
}

/** The package that a path belongs to. Tests are one of their own, and so are the files of the root. */
export function packageOf(path) {
  const parts = path.split('/');
  if (parts.includes('test') || /\.test\.\w+$/.test(path)) return 'tests';
  if (parts.length === 1) return 'root';
  return grouped.has(parts[0]) ? parts.slice(0, 2).join('/') : parts[0];
}

/**
 * The tokens of a source file without its spaces. A language other than TypeScript and JavaScript has two kinds of token:
 * comments, and what is between them.
 */
export function tokensOf(path, text) {
  const extension = extname(path);
  const found = /^\.([cm]?[jt]s|[jt]sx)$/.test(extension)
    ? jsTokens(text, { jsx: extension.endsWith('x') })
    : text.matchAll(otherTokens[extension] ?? otherTokens['.sh']).map(otherToken);
  let start = 0;
  const tokens = [];
  for (const { type, value } of found) {
    if (!spaces.has(type)) tokens.push({ type, value, start, isComment: comments.has(type) });
    start += value.length;
  }
  return tokens;
}

const spaces = new Set(['WhiteSpace', 'LineTerminatorSequence']);
const comments = new Set(['SingleLineComment', 'MultiLineComment']);

/** A comment, or what is before the next one. */
const otherTokens = {
  '.css': /(\/\*[^]*?\*\/)|[^/]+|\//g,
  '.html': /(<!--[^]*?-->)|[^<]+|</g,
  '.sh': /((?<=^[ \t]*)#(?!!).*)|[^#]+|#/gm,
};

const otherToken = ([value, comment]) => ({ type: comment === undefined ? 'Other' : 'MultiLineComment', value });
