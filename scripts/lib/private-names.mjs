import { basename } from 'node:path';
import { fieldTerms, privateNames, privatePhrases, publicKeys } from './private-words.mjs';
import { tokensOf } from './sources.mjs';

/** A phrase as whole words, whatever a comment has at the ends of its lines. */
const phrase = (key) => `\\b${key.replaceAll(' ', '[\\s*/]+')}\\b`;
const inWords = (key) => (key.startsWith('^') ? `^ ${key.slice(1)} \\w` : phrase(key));
const anyOf = (patterns, flags) => new RegExp(patterns.join('|'), flags);

const parts = [...privateNames.keys()].filter((key) => !key.startsWith('='));
const anyPart = anyOf(parts.map(inWords));
const anyPhrase = anyOf([...privatePhrases.keys()].map(phrase), 'gi');
const terms = anyOf(fieldTerms.map(phrase), 'gi');
const keys = new Set(publicKeys);

/**
 * The private words of a source file: in its own name, in its own names, and in its comments.
 *
 * @returns of each its line, its name or `undefined` where it is in a comment, its word, and what to write instead
 */
export function privateWordsIn(path, text) {
  const tokens = tokensOf(path, text);
  const comments = tokens.filter(({ isComment }) => isComment);
  const names = [{ name: basename(path).replace(/\..*/, ''), start: 0 }, ...ownNames(tokens)];
  const found = [
    ...names.map((name) => ({ ...name, word: wordOfName(name.name) })).filter(({ word }) => word !== undefined),
    ...comments.flatMap(({ value, start }) =>
      wordsOfComment(value).map(({ word, index }) => ({ word, start: start + index })),
    ),
  ];
  return found.map(({ start, name, word }) => ({
    line: text.slice(0, start).split('\n').length,
    name,
    word,
    write: (name === undefined ? privatePhrases : privateNames).get(word),
  }));
}

const declaring = new Set('class const enum function infer interface let namespace type var'.split(' '));
/** What stands before a member, a key, a parameter or the label of a tuple. */
const beforeKey = new Set(
  '{ } ( [ , ; ... abstract accessor async declare get override private protected public readonly set static'.split(
    ' ',
  ),
);

/**
 * A file's own names: each declaration and key; once for the file, each name that a pattern, a method or a parameter without a
 * type declares. What the file imports, and the members of what it uses, are names of other files.
 */
function ownNames(tokens) {
  const code = tokens.filter(({ isComment }) => !isComment);
  const declared = [];
  const mentioned = new Map();
  const imported = new Set();
  let importing = false;
  for (const [at, { type, value, start }] of code.entries()) {
    const before = code[at - 1]?.value;
    const after = code[at + 1]?.value;
    if (isImport(code, at)) importing = true;
    else if (importing && (value === 'from' || value === ';' || type === 'StringLiteral')) importing = false;
    if (type !== 'IdentifierName' && type !== 'PrivateIdentifier') continue;
    if (before === '.' || before === '?.') continue;
    if (importing && after !== 'as') imported.add(value);
    if (importing && before !== 'as') continue;
    const isKey =
      beforeKey.has(before) && (after === ':' || ((after === '?' || after === '!') && code[at + 2]?.value === ':'));
    const isPublic = keys.has(value);
    if (isKey ? !isPublic : declaring.has(before) || importing) declared.push({ name: value, start });
    else if (!isPublic && !mentioned.has(value)) mentioned.set(value, start);
  }
  const known = new Set([...imported, ...declared.map(({ name }) => name)]);
  const others = [...mentioned].filter(([name]) => !known.has(name));
  return [...declared, ...others.map(([name, start]) => ({ name, start }))];
}

/** Whether a statement begins that takes names from elsewhere: `import … from`, or `export { … } from`. */
function isImport(code, at) {
  const [{ value }, next] = code.slice(at, at + 2);
  if (next === undefined || ['.', '?.'].includes(code[at - 1]?.value)) return false;
  return value === 'import' ? !['(', '.'].includes(next.value) : value === 'export' && ['{', '*'].includes(next.value);
}

const wordsOfNames = new Map();

/** The key of a name's private word, or undefined. */
function wordOfName(name) {
  if (!wordsOfNames.has(name)) {
    const words = ` ${split(name).replace(terms, '')} `;
    const part = anyPart.test(words) ? parts.find((key) => new RegExp(inWords(key)).test(words)) : undefined;
    wordsOfNames.set(name, privateNames.has(`=${name}`) ? `=${name}` : part);
  }
  return wordsOfNames.get(name);
}

function wordsOfComment(text) {
  const blank = (part) => ' '.repeat(part.length);
  const prose = text.replace(/`[^`]*`|\{@\w+[^}]*\}/g, blank).replace(terms, blank);
  return [...prose.matchAll(anyPhrase)].map(({ 0: word, index }) => ({
    word: word.toLowerCase().replace(/[\s*/]+/g, ' '),
    index,
  }));
}

/** `maxToldPushes`, `TOLD_PUSHES` and `told-pushes` in words. */
const split = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3 $2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ');
