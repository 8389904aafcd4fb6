/** What a sandbox keeps for itself in a workspace. */
export const keptDirectory = '.suzumio';

const kept: readonly string[] = ['.git', keptDirectory];

/** Characters that the file systems of macOS leave out of a name. */
const omittedByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * The first part of a path that Git or the sandbox keeps for itself, however it is spelled: what another agent wrote must not
 * come to lie in one, where it would be run (hooks, configuration) or taken for the sandbox's own. Some file systems ignore
 * case, omit characters, end a name at a colon or before dots and spaces, part it at backslashes, or have a short
 * name for it.
 */
export function keptPartOf(path: string): string | undefined {
  return path.split('/').find((part) => part.split('\\').some(isReserved));
}

function isReserved(part: string): boolean {
  const name = part.replace(omittedByHfs, '').normalize('NFC').toLowerCase();
  const [beforeColon = ''] = name.split(':', 1);
  const plain = beforeColon.replace(/[. ]+$/, '');
  return kept.includes(plain) || /^(?:git|suzumi)~\d+$/.test(plain);
}
