import type { SinglePreset } from '@suzumio/core/budgets/presets';
import type { ChatRequest } from '@suzumio/protocol/model-chat';
import type { WireChunk } from './chat-wire.js';

/** What a model is asked, in whatever format. */
export interface ModelRequest {
  readonly model: string;
  readonly messages: ChatRequest['messages'];
  readonly tools: NonNullable<ChatRequest['tools']>;
  readonly maxTokens: number | undefined;
  readonly settings: SinglePreset;
}

/**
 * A format in which providers answer. Whatever it is, an answer is read as pieces of one of Chat Completions, which are
 * put together in one place.
 */
export interface WireFormat {
  /** Where it is asked, below the provider's address. */
  readonly path: string;
  /**
   * Reads an answer that came at once.
   *
   * @throws ProviderFailure where it is none, or says why there is none
   */
  whole(body: unknown): WireChunk[];
  /** Begins to read a streamed answer: what it returns does with each event what `whole` does with all of it. */
  events(): (event: unknown) => WireChunk[];
}
