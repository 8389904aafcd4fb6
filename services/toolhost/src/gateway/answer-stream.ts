import type { Response } from 'express';
import type { ModelAnswer, ReceivedAnswer } from '@suzumio/protocol/model-chat';

/** A journaled answer as a Chat Completions response. */
export function completionOf(answer: ReceivedAnswer, id: string): object {
  return {
    id,
    object: 'chat.completion',
    created: 0,
    model: answer.model ?? '',
    choices: [{ index: 0, message: messageOf(answer), finish_reason: answer.finishReason ?? 'stop', logprobs: null }],
    usage: usageOf(answer),
  };
}

/**
 * Streams an answer to a runner: its text as it comes, and the rest (calls, finish reason, usage) once it is in the
 * journal. No runner has a complete answer before that.
 */
export class AnswerStream {
  #sent = '';
  #begun = false;

  constructor(
    private readonly response: Response,
    private readonly id: string,
  ) {}

  /** Sends new text. */
  text(piece: string): void {
    this.#sent += piece;
    this.#say({ content: piece });
  }

  /**
   * Sends the rest. Where another provider's answer differs from the text that was sent, the stream is cut, and the
   * runner repeats its call.
   */
  end(answer: ReceivedAnswer): void {
    if (!answer.text.startsWith(this.#sent)) {
      this.response.destroy();
      return;
    }
    const { tool_calls: calls, refusal, suzumio } = messageOf(answer);
    const delta = {
      content: answer.text.slice(this.#sent.length),
      refusal,
      ...(suzumio === undefined ? {} : { suzumio }),
      ...(calls ? { tool_calls: calls.map((call, index) => ({ index, ...call })) } : {}),
    };
    this.#say(delta, answer.model);
    this.#send({ choices: [{ index: 0, delta: {}, finish_reason: answer.finishReason ?? 'stop' }] }, answer.model);
    this.#send({ choices: [], usage: usageOf(answer) }, answer.model);
    this.#write('data: [DONE]\n\n');
    this.response.end();
  }

  /** Clients concatenate the fields of all chunks, so that constant fields are in the first alone. */
  #say(part: object, model?: string): void {
    const delta = this.#begun ? part : { role: 'assistant', ...part };
    this.#begun = true;
    this.#send({ choices: [{ index: 0, delta, finish_reason: null }] }, model);
  }

  #send(piece: object, model = ''): void {
    const chunk = { id: this.id, object: 'chat.completion.chunk', created: 0, model, ...piece };
    this.#write(`data: ${JSON.stringify(chunk)}\n\n`);
  }

  #write(text: string): void {
    if (!this.response.headersSent) {
      this.response.status(200).set({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    }
    // No backpressure: a runner that disconnects or reads slowly must not delay the journal, and the answer is bounded.
    if (!this.response.destroyed) this.response.write(text);
  }
}

function messageOf({ text, refusal, toolCalls, reference, reading }: ReceivedAnswer) {
  return {
    role: 'assistant',
    content: text === '' && toolCalls.length > 0 ? null : text,
    refusal: refusal ?? null,
    suzumio: reference && { ...reference, reading },
    ...(toolCalls.length === 0
      ? {}
      : {
          tool_calls: toolCalls.map(({ id, name, arguments: written }) => ({
            id,
            type: 'function',
            function: { name, arguments: written },
          })),
        }),
  };
}

function usageOf({ usage }: ModelAnswer) {
  const { inputTokens = 0, outputTokens = 0, cachedTokens } = usage ?? {};
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(cachedTokens === undefined ? {} : { prompt_tokens_details: { cached_tokens: cachedTokens } }),
  };
}
