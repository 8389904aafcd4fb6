import type { EventType } from '@suzumio/contract/model/event';
import type { Labels } from '@suzumio/contract/model/labels';

/** An event as it goes over the wire. */
export interface Frame {
  seq: number;
  /** Undefined for a notice about a project, which everybody gets who may hear of the project. */
  type: EventType | undefined;
  agent: string | null;
  /** The message that is answered, where the event is a reply. */
  answers?: string | undefined;
  /** Its project and the labels of that, where followers of several projects share a feed. */
  project?: string;
  labels?: Labels;
  text: string;
}

/** A receiver of a project's events, each once and in order. */
export interface Follower {
  /** The epoch of its last event; unknown before its first, or where it began from a bare number. */
  epoch: number | undefined;
  /** The number of its last event. */
  readonly seq: number;
  /** False while it cannot take events: none are buffered for it meanwhile. */
  readonly ready: boolean;
  /** Delivers the events after its last one, up to `seq`. */
  take(frames: readonly Frame[], seq: number): void;
  /** The project has begun another epoch: the events delivered so far are void. */
  reset(epoch: number): void;
  /** A heartbeat, after a time without events. */
  beat(): void;
  /** This process sends no more events. */
  end(): void;
  /** The project was deleted. */
  endDeleted(): void;
}
