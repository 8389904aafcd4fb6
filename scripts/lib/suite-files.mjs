import fs from 'node:fs';

const kinds = ['slow', 'process', 'browser', 'container'];
const named = new RegExp(`\\.(${kinds.join('|')})\\.test\\.ts$`);
const directories = '{{shared/*,runner,cli,sdk,web},services/*,.}/test';

/** Every suite of the tree. */
export function allSuites() {
  // Scripts import this file on the machine's own Node, too, which may have no such function.
  return fs.globSync(`${directories}/**/*.test.ts`).sort();
}

/** A suite's kind is the part of its name that says what it starts: `unit` where there is none. */
export function kindOf(path) {
  return named.exec(path)?.[1] ?? 'unit';
}
