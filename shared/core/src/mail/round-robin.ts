/** The result of dealing places. */
export interface Dealt {
  /** How many places each project gets; projects without any are absent. */
  shares: ReadonlyMap<string, number>;
  /**
   * Projects that move to the end of the line, in order. Projects that got as many places as all others keep their
   * position.
   */
  moved: readonly string[];
}

/**
 * The rule by which projects share the queue: places are dealt round robin along the line of waiting projects. The
 * project that was dealt the last place is last in the line, so that the next deal continues after it.
 *
 * A project joins at the end of the line, overtakes no other, and needs no deal where none waits. So between its
 * joining and its first place every other project is dealt at most one; and as at most `slots` turns hold places, a
 * newly ready project waits for at most `slots + projects` starts in its cell.
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
