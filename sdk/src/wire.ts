import type { Turn } from './turn.js';

/** The version of the ToolHost's protocol for handlers that this package speaks. */
export const handlersProtocol = 1;

/** The longest text of a turn. */
export const maxTextLength = 1_000_000;

/** The answer of `GET /handlers/self`. */
export interface Self {
  protocol: number;
  project: string;
  agents: string[];
}

/** A turn with its attempt's tokens. */
export interface ClaimedTurn extends Turn {
  readonly leaseToken: string;
  readonly toolToken: string;
  readonly leaseMs: number;
}

export interface ClaimAnswer {
  turn: ClaimedTurn | null;
}

export interface HeartbeatAnswer {
  leaseMs: number;
  cancel: boolean;
}

/** The answer of `POST /tool`. */
export interface ToolResponse {
  output: unknown;
  metadata?: Record<string, unknown>;
}
