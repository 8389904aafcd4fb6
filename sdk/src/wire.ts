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

/** An image as its content says. Sides are in pixels. */
export interface ShownImage {
  readonly sha256: string;
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  readonly width: number;
  readonly height: number;
  readonly sizeBytes: number;
}

/** The answer of `POST /tool`. */
export interface ToolResponse {
  output: unknown;
  metadata?: Record<string, unknown>;
  image?: ShownImage;
}
