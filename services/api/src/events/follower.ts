import type { EventType } from '@suzumio/contract/model/event';

/** An event as it goes over the wire. */
export interface Frame {
  seq: number;
  type: EventType;
  text: string;
}

/** Somebody who is given a project's events, each once and in order. */
export interface Follower {
  /** The epoch of what it knows; unknown while it knows nothing, or came with a bare number. */
  epoch: number | undefined;
  /** The last event that it was given. */
  readonly seq: number;
  /** False while it takes nothing: nothing is kept for it meanwhile. */
  readonly ready: boolean;
  /** Takes the events up to `seq` that come after its own. */
  take(frames: readonly Frame[], seq: number): void;
  /** What it knows is not the project's past any more. */
  reset(epoch: number): void;
  /** Nothing has happened for a while. */
  beat(): void;
  /** There will be no more from here. */
  end(): void;
  /** There will never be more: the project was deleted. */
  endDeleted(): void;
}
