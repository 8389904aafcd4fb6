import { tokensOf } from './sources.mjs';

/** How many lines of a source file have anything but spaces and comments, and how many lines it has. */
export function countLines(path, text) {
  const blank = (part) => part.replace(/[^\n]/g, ' ');
  let code = '';
  let end = 0;
  for (const { start, value } of tokensOf(path, text).filter(({ isComment }) => isComment)) {
    code += text.slice(end, start) + blank(value);
    end = start + value.length;
  }
  code += text.slice(end);
  return { code: code.match(/^.*\S.*$/gm)?.length ?? 0, total: text.match(/\n|[^\n]$/g)?.length ?? 0 };
}

/** The lines of each package that are neither blank nor comment, and all of them. */
export function linesOfPackages(files) {
  const packages = new Map();
  for (const { path, package: name, text } of files) {
    const { code, total } = countLines(path, text);
    const sum = packages.get(name) ?? { code: 0, total: 0 };
    packages.set(name, { code: sum.code + code, total: sum.total + total });
  }
  return packages;
}

/** A sentence for each package that is above its ceiling, has none, or is no more. */
export function lineProblems(lines, ceilings, file) {
  const above = [...lines].flatMap(([name, { code, total }]) => {
    const ceiling = ceilings[name];
    if (ceiling === undefined)
      return [`${name} has ${code} lines of source and no ceiling: enter it in ${file}, in a commit that says why.`];
    if (code <= ceiling) return [];
    return [
      `${name} has ${code} lines of source (${total} with comments and blank lines), ${code - ceiling} above its ceiling in ${file}.`,
      '  Remove what is not needed; a ceiling rises only in a commit that says why.',
    ];
  });
  const past = Object.keys(ceilings).filter((name) => !lines.has(name));
  return [...above, ...past.map((name) => `${name} has no source: remove it from ${file}.`)];
}

export function lineTable(lines, ceilings) {
  const rows = [...lines].sort().map(([name, { code, total }]) => [name, code, ceilings[name] ?? '', total]);
  return [['package', 'code', 'ceiling', 'total'], ...rows]
    .map(([name, ...numbers]) => [name.padEnd(24), ...numbers.map((number) => String(number).padStart(9))].join(''))
    .join('\n');
}
