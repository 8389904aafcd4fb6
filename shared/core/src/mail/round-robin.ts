/** What a deal of places came to. */
export interface Dealt {
  /** How many places each project gets; those that get none are missing. */
  shares: ReadonlyMap<string, number>;
  /** Projects that go to the end of the line, in their order. Who got as many places as all others keeps its place in it. */
  moved: readonly string[];
}

/**
 * The rule by which projects share the queue: places are dealt one by one along the line of projects that wait for some,
 * and round again while any are left. Whoever was dealt the last place is the last in the line, so that the next deal goes
 * on behind it.
 *
 * A project joins at the end of the line, passes nobody in it, and where nobody waits needs no deal. So between its joining
 * and its first place every other project is dealt one at most; and as no more than `slots` turns hold a place, a newly
 * ready project waits for at most `slots + projects` starts of its cell.
 *
 * @param line projects that wait for a place, each once
 * @param places how many are free
 */
export function dealPlaces(line: readonly string[], places: number): Dealt {
  if (line.length === 0 || places <= 0) return { shares: new Map(), moved: [] };
  const each = Math.floor(places / line.length);
  const moved = line.slice(0, places % line.length);
  const shares = new Map(line.map((project, at) => [project, each + (at < moved.length ? 1 : 0)] as const));
  return { shares: new Map([...shares].filter(([, share]) => share > 0)), moved };
}
