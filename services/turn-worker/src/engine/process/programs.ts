import { accessSync, constants } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** Where turns that are processes find their programs. */
export const programPath = [
  dirname(process.execPath),
  ...(process.platform === 'darwin' ? ['/opt/homebrew/bin'] : []),
  '/usr/local/bin',
  '/usr/bin',
  '/bin',
].join(delimiter);

/** What the runner image has beside Node; where turns are processes, the machine should have it. */
export const programsOfAgents = 'bash git rg python3 python pip make npm jq curl patch'.split(' ');

/** Those of them that turns which are processes do not find on this machine. */
export function missingPrograms(path = programPath): string[] {
  return programsOfAgents.filter((program) => !path.split(delimiter).some((at) => isExecutable(join(at, program))));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
