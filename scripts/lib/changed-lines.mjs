import { execFileSync } from 'node:child_process';

/** Tells whether the last commit, or what follows it in the working tree, wrote a line of a file. */
export function changedLines() {
  const ranges = new Map();
  let path;
  for (const line of git(['diff', '--unified=0', '--no-color', '--no-ext-diff', 'HEAD~1']).split('\n')) {
    if (line.startsWith('+++ ')) path = line.slice('+++ b/'.length);
    const [, first, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (first) ranges.set(path, [...(ranges.get(path) ?? []), [Number(first), Number(first) + Number(count)]]);
  }
  const untracked = new Set(git(['ls-files', '-z', '--others', '--exclude-standard']).split('\0'));
  return (file, line) =>
    untracked.has(file) || (ranges.get(file) ?? []).some(([first, end]) => line >= first && line < end);
}

/** The output of a command of Git; nothing where it fails, as in a repository with a single commit. */
function git(args) {
  try {
    return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}
