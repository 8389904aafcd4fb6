import { event, type ModelRequestBody } from '../../../test/support/model-server.js';
import { type Attaching, attaching } from './attaching-providers.js';

// Providers and servers as people meet them: what each refuses, in its words and its form, and what its answers carry.

type Fields = Record<string, unknown>;

const { gemini, signed, deepseek, reasoning, openRouter, mistral, responses, plain } = attaching;

const within = (value: unknown, test: (key: string, value: unknown) => boolean): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).some(([key, inner]) => test(key, inner) || within(inner, test));

/** What `llama-server` cannot compile into a grammar; Gemini's list of keywords is shorter still. */
function schemaFault({ tools }: ModelRequestBody, keywords: RegExp): string | undefined {
  const isRefused = (key: string, value: unknown) => keywords.test(key) && typeof value !== 'object';
  return within(tools, isRefused) ? 'failed to parse grammar' : undefined;
}
const bounds = /^(min|max)(Length|Items|imum)$|^pattern$|^format$|^multipleOf$|^exclusive/;
const geminiKnowsNot = /^additionalProperties$|^\$schema$|^\$ref$|^const$|^default$|^exclusiveM|^pattern$/;

const roleOf = (body: ModelRequestBody) => body.messages[0]?.role;
const has = (body: ModelRequestBody, ...fields: string[]) => fields.find((field) => field in body);
const alternates = ({ messages }: ModelRequestBody) => {
  const roles = messages.map(({ role }) => role).filter((role) => role !== 'system' && role !== 'tool');
  return roles.every((role, at) => role !== 'user' || roles[at - 1] !== 'user');
};

const inBraces = (message: string, more: Fields = {}) => ({ error: { message, ...more } });
/** As OpenAI's own service names what it refuses. */
const ofOpenAi = (param: string, message: string) => ({
  ...inBraces(message, { type: 'invalid_request_error', param, code: 'unsupported_parameter' }),
});

/** Calls under ids of the server's own. */
function withIds(kind: Attaching, id: (turn: number, at: number, name: string) => string): Attaching {
  return {
    ...kind,
    calls(name, inputs, turn) {
      const made = kind.calls(name, inputs, turn);
      const renamed = (call: Fields, at: number) => ({ ...call, id: id(turn, at, name) });
      return {
        whole: { ...made.whole, tool_calls: (made.whole.tool_calls ?? []).map(renamed) as never },
        deltas: made.deltas.map((delta) => {
          const calls = delta['tool_calls'] as Fields[] | undefined;
          return calls
            ? { ...delta, tool_calls: calls.map((call) => renamed(call, Number(call['index'] ?? 0))) }
            : delta;
        }),
      };
    },
  };
}

/** Thoughts that a server leaves in the text. */
const thinkingInText: Attaching = {
  ...plain,
  text: (text) => plain.text(`<think>\nThe “user” asks.\n</think>\n\n${text}`, 0),
  comesBackAs: (text) => text.replace(/^<think>[^]*<\/think>\s*/, ''),
  refuses: (messages) => (JSON.stringify(messages).includes('<think>') ? 'thoughts as text' : undefined),
};

/** The rows of the table in `docs/models.md`, by their names there; more variants follow. */
export const knownProviders: Readonly<Record<string, Attaching>> = {
  Gemini: {
    ...gemini,
    faultIn: (body) => schemaFault(body, geminiKnowsNot),
    refusedAs: (message) => [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }],
    usage: { prompt_tokens_details: { cached_tokens: 4 } },
  },
  DeepSeek: {
    ...deepseek,
    preset: 'maxOutputTokens: 60000',
    teaches: ({ max_tokens: bound }) =>
      Number(bound) > 8192
        ? inBraces('Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', {
            type: 'invalid_request_error',
          })
        : undefined,
    learnt: ['answer limited to 8192 tokens'],
    usage: { prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 6 },
  },
  Kimi: {
    ...withIds(deepseek, (turn, at, name) => `functions.${name}:${turn * 10 + at}`),
    preset: 'temperature: 0.3, lenient: true',
    teaches: (body) =>
      has(body, 'temperature')
        ? inBraces('invalid temperature: only 1 is allowed for this model', { type: 'invalid_request_error' })
        : undefined,
    learnt: ['temperature left out'],
    usage: { cached_tokens: 4 },
  },
  OpenRouter: {
    ...openRouter,
    before: [': OPENROUTER PROCESSING\n', ': OPENROUTER PROCESSING\n'],
    usage: { prompt_tokens_details: { cached_tokens: 4 }, cost: 0.0001 },
  },
  Azure: {
    ...plain,
    preset: 'maxOutputTokens: 2000, reasoningEffort: low',
    teaches: (body) =>
      has(body, 'max_tokens')
        ? ofOpenAi(
            'max_tokens',
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
          )
        : undefined,
    learnt: ['max_tokens sent as max_completion_tokens'],
    before: [
      event({ model: '', choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] }),
    ],
    usage: { prompt_tokens_details: { cached_tokens: 4 } },
  },
  Foundry: {
    ...plain,
    preset: 'maxOutputTokens: 2000',
    teaches: (body) =>
      has(body, 'stream_options')
        ? {
            status: 422,
            detail: [
              { type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' },
            ],
          }
        : undefined,
    learnt: ['stream_options left out'],
  },
  'GitHub Models': {
    ...plain,
    preset: 'maxOutputTokens: 2000',
    teaches: (body) =>
      roleOf(body) === 'system'
        ? ofOpenAi(
            'messages[0].role',
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
          )
        : has(body, 'max_tokens')
          ? ofOpenAi(
              'max_tokens',
              "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            )
          : undefined,
    learnt: ['system message sent as developer', 'max_tokens sent as max_completion_tokens'],
    usage: { prompt_tokens_details: { cached_tokens: 4 } },
  },
  Mistral: {
    ...mistral,
    preset: 'maxOutputTokens: 2000',
    faultIn: (body) => {
      const { messages } = body;
      if (messages.some(({ role }, at) => role === 'user' && messages[at - 1]?.role === 'tool'))
        return "Expected last role User or Tool, unexpected role 'user' after role 'tool'";
      return has(body, 'max_completion_tokens') ? 'Extra inputs are not permitted' : undefined;
    },
    refusedAs: (msg) => ({ object: 'error', message: { detail: [{ type: 'value_error', loc: ['body'], msg }] } }),
  },
  vLLM: {
    ...withIds(reasoning, (turn, at) => `chatcmpl-tool-${turn}${at}9f0c`),
    preset: 'maxOutputTokens: 30000',
    faultIn: (body) => (alternates(body) ? undefined : 'Conversation roles must alternate user/assistant/...'),
    teaches: ({ max_tokens: bound }) =>
      Number(bound) > 20_768
        ? {
            object: 'error',
            message: `'max_tokens' or 'max_completion_tokens' is too large: ${String(bound)}. This model's maximum context length is 32768 tokens and your request has 12000 input tokens (${String(bound)} > 32768 - 12000).`,
            type: 'BadRequestError',
            code: 400,
          }
        : undefined,
    usage: { prompt_tokens_details: { cached_tokens: 4 } },
  },
  'llama.cpp': {
    ...withIds(deepseek, (turn, at) => `Zq${turn}x${at}`),
    faultIn: (body) => schemaFault(body, bounds),
    teaches: (body) =>
      roleOf(body) === 'system'
        ? inBraces('System role not supported', { code: 500, type: 'server_error' })
        : undefined,
    learnt: ['system message sent as developer'],
    usage: { prompt_tokens_details: { cached_tokens: 4 } },
  },
  Ollama: {
    ...withIds(reasoning, (turn, at) => `call_${turn}${at}ab`),
    finish: 'stop',
    faultIn: ({ messages }) =>
      messages.some(({ content }) => typeof content !== 'string' && content !== null) ? 'invalid content' : undefined,
  },
  'LM Studio': {
    ...withIds(thinkingInText, (turn, at) => `36517448${turn}${at}`),
    faultIn: (body) => (typeof body['tool_choice'] === 'object' ? "Invalid tool_choice type: 'object'" : undefined),
    refusedAs: (error) => ({ error }),
  },
  TGI: {
    ...withIds(plain, (_turn, at) => String(at)),
    preset: 'maxOutputTokens: 9000',
    faultIn: (body) => (alternates(body) ? undefined : 'Template error: Conversation roles must alternate'),
    refusedAs: (error) => ({ error, error_type: 'validation' }),
    teaches: ({ max_tokens: bound }) =>
      Number(bound) > 7384
        ? {
            status: 422,
            error: `Input validation error: \`inputs\` tokens + \`max_new_tokens\` must be <= 16384. Given: 9000 \`inputs\` tokens and ${String(bound)} \`max_new_tokens\``,
            error_type: 'validation',
          }
        : undefined,
  },
  'OpenAI, Responses': responses,
  'a proxy that signs functions': signed,
};
