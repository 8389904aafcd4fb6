/** The references of a repository, by name. */
export async function idsIn(
  git: (args: readonly string[]) => Promise<string>,
  ...below: readonly string[]
): Promise<Map<string, string>> {
  const list = await git(['for-each-ref', '--format=%(objectname) %(refname)', ...below]);
  return new Map(list.split('\n').flatMap((line) => (line === '' ? [] : [[line.slice(41), line.slice(0, 40)]])));
}
