/**
 * The shares of a ToolHost's memory. All may be taken at the same time, so together they leave room for what is as large
 * everywhere: the thread that reads packs.
 */
export const memoryShares = {
  /** The process itself, with the heap of its main thread. */
  itself: 3 / 16,
  /** A thread in its turn, see `memoryTurns`. */
  turns: 1 / 4,
  /** Long bodies of requests. */
  bodies: 1 / 8,
  /** Open databases of projects. */
  databases: 1 / 8,
  /** The processes of toolpacks' controller modules. */
  controllers: 1 / 8,
} as const;
