import { type Client, SuzumioError } from '@suzumio/sdk/client';
import { api } from '../../../api.js';
import type { Marked } from '../../make/editor.js';

/** What is wrong with a file for a project that is there, and, where nothing is, what it would change. */
export interface Checked {
  readonly problems: Marked[];
  readonly warnings: Marked[];
  readonly notes: Marked[];
  readonly difference?: Awaited<ReturnType<Client['diffConfig']>>;
}

/** What is said of a file, and not of the request or of who asks. */
const aboutFiles: ReadonlySet<string> = new Set([
  'policy-denied',
  'invalid-config',
  'not-supported-yet',
  'profile-unknown',
  'profile-retired',
]);

/** Compares a file with the newest version. */
export async function checkFile(project: string, file: string): Promise<Checked> {
  try {
    const difference = await api.diffConfig({ project, body: { file } });
    return {
      problems: [],
      warnings: difference.warnings.map(markedOf),
      notes: difference.notes.map(markedOf),
      difference,
    };
  } catch (error) {
    if (!(error instanceof SuzumioError) || !aboutFiles.has(error.code)) throw error;
    return { problems: error.message.split(/\n(?=file:\d+:\d+ {2})/).map(markedOf), warnings: [], notes: [] };
  }
}

/**
 * A version as text that can be applied from here: as it was given, or with everything resolved where that names imports or
 * directories of the machine that it was given on.
 */
export async function wholeFile(project: string, number: number): Promise<{ file: string; isRendered: boolean }> {
  const version = String(number);
  const { file } = await api.getConfigVersion({ project, version });
  if (file !== null && (await checkFile(project, file)).problems.length === 0) return { file, isRendered: false };
  const { rendered = '' } = await api.getConfigVersion({ project, version, query: { rendered: 'true' } });
  const { problems } = await checkFile(project, rendered);
  return file === null || problems.length === 0 ? { file: rendered, isRendered: true } : { file, isRendered: false };
}

/** The place and the words of a line such as `file:14:9  unknown field`; without a place it is about the beginning. */
function markedOf(said: string): Marked {
  const [, line, column, message] = /^file:(\d+):(\d+) {2}(.*)$/s.exec(said) ?? [];
  return message === undefined
    ? { line: 1, column: 1, message: said }
    : { line: Number(line), column: Number(column), message };
}
