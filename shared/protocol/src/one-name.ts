/**
 * A name as disks see it that tell neither case nor the two ways to write an accent apart, as those of macOS and Windows do:
 * two names with the same form are one file there.
 */
export function asOneName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
