import { type Named, plainName } from './known-vision.js';

/** Models of the Responses format that do not reason, by the beginning of their names: asked for reasoning, OpenAI refuses. */
const plain = [/^gpt-(3|4)/, /^chatgpt-/, /^gpt-5(\.\d+)?-chat/];

/** Whether a model in the Responses format is asked for its encrypted reasoning: as its preset says, or as is known of its name. */
export function sendsReasoning(settings: Named & { readonly sendReasoning?: boolean }): boolean {
  return settings.sendReasoning ?? !plain.some((name) => name.test(plainName(settings)));
}
