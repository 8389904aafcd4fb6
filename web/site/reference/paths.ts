/** The address of the page of a group of operations. */
export function pathOfGroup(group: string): string {
  return `docs/api/${group.toLowerCase()}`;
}
