import { describe, expect, test } from '@jest/globals';
import { failureOf, failureWithin, type ProviderFailureKind } from '../../src/gateway/provider-failure.js';

/** A refusal under a status, as JSON, as an error within an answer, and as a text. */
function kindsOf(status: number, said: string | object): ProviderFailureKind[] {
  const error = typeof said === 'string' ? { message: said } : said;
  const body = { status, nowMs: 0 };
  return [
    failureOf({ ...body, body: JSON.stringify({ error }) }).kind,
    failureOf({ ...body, body: JSON.stringify(error) }).kind,
    failureWithin({ code: status, ...error }).kind,
    ...(typeof said === 'string' ? [failureOf({ ...body, body: said }).kind] : []),
  ];
}

/** What servers say, field by field where that matters; figures are changed. */
describe('a conversation that is too long is told as such by', () => {
  test.each<[string, string | object]>([
    ['OpenAI', { message: 'Your input exceeds the context window of this model. Please adjust your input.' }],
    ['OpenAI, by its code', { message: 'Too long.', code: 'context_length_exceeded', param: 'messages' }],
    [
      'OpenAI, of one message',
      "Invalid 'messages[3].content': string too long. Expected a string with maximum length 1048576, but got 1500000.",
    ],
    [
      'Azure',
      "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).",
    ],
    [
      'GitHub Models',
      { code: 'tokens_limit_reached', message: 'Request body too large for gpt-4o model. Max size: 8000 tokens.' },
    ],
    ['GitHub Copilot', 'prompt token count of 70000 exceeds the limit of 64000'],
    ['Anthropic', 'prompt is too long: 210000 tokens > 200000 maximum'],
    [
      'Anthropic, with the answer',
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    ],
    ['Anthropic, by its size', { type: 'request_too_large', message: 'Request exceeds the maximum size' }],
    ['Gemini', 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).'],
    [
      'DeepSeek',
      "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (66000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.",
    ],
    ['Kimi', 'Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)'],
    ['Kimi, otherwise', 'Input token length too long'],
    ['Qwen', { code: 'invalid_parameter_error', message: 'Range of input length should be [1, 30720]' }],
    ['Zhipu', { code: '1261', message: 'Prompt 超长' }],
    ['MiniMax', 'invalid params, context window exceeds limit (2013)'],
    [
      'Mistral',
      'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    ],
    ['xAI', "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
    [
      'OpenRouter',
      "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens (39000 of text input, 1000 in the output).",
    ],
    ['Groq', 'Please reduce the length of the messages or completion.'],
    ['Cerebras', 'Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192'],
    [
      'Together',
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`',
    ],
    ['TGI', 'Input validation error: `inputs` must have less than 1024 tokens. Given: 2000'],
    ['Fireworks', 'The prompt is too long: 100000, model maximum context length: 65535'],
    ['Cohere', 'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000'],
    [
      'vLLM',
      "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 500 input tokens (4096 > 4096 - 500).",
    ],
    ['vLLM, of the answer', 'max_tokens must be at least 1, got -300.'],
    [
      'vLLM, in its engine',
      'The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.',
    ],
    ['SGLang', "The input (5000 tokens) is longer than the model's context length (4096 tokens)."],
    ['SGLang, of the sum', "Requested token count exceeds the model's maximum context length of 4096 tokens."],
    [
      'llama.cpp',
      {
        type: 'exceed_context_size_error',
        message: 'request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it',
      },
    ],
    ['llama.cpp, on its way', 'Context size has been exceeded.'],
    ['llama.cpp, before that', 'input is larger than the max context size. skipped'],
    ['Ollama', 'prompt too long; exceeded max context length by 4 tokens'],
    ['LM Studio', 'The number of tokens to keep from the initial prompt is greater than the context length.'],
    [
      'LM Studio, otherwise',
      'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    ],
    ['LM Studio, by its numbers', 'Cannot truncate prompt with n_keep (5000) >= n_ctx (4096)'],
    [
      'LiteLLM',
      'litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException - too much',
    ],
    ['Bedrock', 'Input is too long for requested model.'],
    ['Bedrock, in tokens', 'Too many input tokens. Max input tokens: 8192, request input token count: 9279'],
    [
      'Bedrock, in characters',
      'Malformed input request: expected maxLength: 50000, actual: 52611, please reformat your input and try again.',
    ],
  ])('%s', (_, said) => {
    for (const status of [400, 413, 422, 500, 503]) {
      for (const kind of kindsOf(status, said)) expect([status, kind]).toEqual([status, 'context-overflow']);
    }
  });

  test('a proxy, in the title of its page, and one limit a minute that no waiting helps', () => {
    const page = '<html><head><title>413: prompt is too long</title></head></html>';
    expect(kindsOf(413, page).at(-1)).toBe('context-overflow');
    const limit = 'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 45000.';
    expect(new Set([...kindsOf(429, limit), ...kindsOf(413, limit)])).toEqual(new Set(['context-overflow']));
  });
});

describe('nothing is said of its length by', () => {
  test.each<[number, string | object, ProviderFailureKind]>([
    [
      429,
      'Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.',
      'unavailable',
    ],
    [429, { code: 'insufficient_quota', message: 'You exceeded your current quota of tokens.' }, 'quota-spent'],
    [429, 'Too many requests: the limit of input tokens per day is exceeded.', 'unavailable'],
    [
      400,
      'max_tokens is too large: 100000. This model supports at most 4096 completion tokens, whereas you provided 100000.',
      'request-refused',
    ],
    [
      400,
      'max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet',
      'request-refused',
    ],
    [400, 'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', 'request-refused'],
    [400, 'temperature: Input should be less than or equal to 1', 'request-refused'],
    [
      400,
      "Invalid 'tools': array too long. Expected an array with maximum length 128, but got 150.",
      'request-refused',
    ],
    [
      400,
      "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64.",
      'request-refused',
    ],
    [400, 'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum', 'request-refused'],
    [400, 'The response was filtered due to the prompt triggering our content management policy.', 'request-refused'],
    [500, 'The server had an error while processing your request.', 'unavailable'],
    [503, 'Too many tokens per minute are asked for. Try again later.', 'unavailable'],
    [401, 'The token is too long to be a key.', 'key-rejected'],
  ])('%d %j', (status, said, kind) => {
    for (const one of kindsOf(status, said)) expect(one).toBe(kind);
  });
});

describe('a schema that a server cannot compile is told as such', () => {
  test.each<[string, string | object]>([
    ['llama.cpp', 'Failed to initialize samplers: failed to parse grammar'],
    ['llama.cpp, before', 'failed to parse grammar'],
    ['llama.cpp, of a type', 'Unrecognized schema: {"not":{}}'],
    ['llama.cpp, all of it', 'JSON schema conversion failed:\nUnrecognized schema: {"type":"any"}'],
    [
      'OpenAI',
      {
        param: 'tools[0].function.parameters',
        code: 'invalid_function_parameters',
        message: "Invalid schema for function 'file_read': In context=('properties', 'x'), array schema missing items.",
      },
    ],
    [
      'Gemini',
      '* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties[x].items: missing field.',
    ],
    [
      'Gemini, of a keyword',
      `Invalid JSON payload received. Unknown name "exclusiveMinimum" at 'tools[0].function_declarations[3].parameters': Cannot find field.`,
    ],
    ['Anthropic', 'tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12'],
    [
      'Kimi',
      'tools.function.parameters is not a valid moonshot flavored json schema, details: <At path x: unsupported>',
    ],
    ['vLLM', 'The provided JSON schema contains features not supported by xgrammar.'],
    ['SGLang', 'Failed to compile json schema for the tool.'],
    ['cannot parse the grammar of the tools', 'cannot parse the grammar of the tools'],
  ])('%s', (_, said) => {
    for (const status of [400, 422, 500, 503]) {
      for (const kind of kindsOf(status, said)) expect([status, kind]).toEqual([status, 'schema-refused']);
    }
  });
});

describe('a region is no wrong key', () => {
  test.each<[number, string | object, ProviderFailureKind]>([
    [
      403,
      { code: 'unsupported_country_region_territory', message: 'Country, region, or territory not supported' },
      'access-refused',
    ],
    [403, 'This country is not supported.', 'access-refused'],
    [400, 'User location is not supported for the API use.', 'access-refused'],
    [403, 'The model is not available in your region.', 'access-refused'],
    [451, 'Unavailable in this jurisdiction.', 'access-refused'],
    [403, 'Your key lacks the permission.', 'key-rejected'],
    [403, { code: 'model_not_found', message: 'Project `p` does not have access to model `m`.' }, 'model-unknown'],
    [403, 'Your chosen model requires moderation and your input was flagged.', 'request-refused'],
    [401, 'Incorrect API key provided.', 'key-rejected'],
  ])('%d %j', (status, said, kind) => {
    for (const one of kindsOf(status, said)) expect(one).toBe(kind);
  });
});

describe('a question may have been too long where no word says what is wrong', () => {
  const page = (status: number, words: string) =>
    `<html><head><title>${status} ${words}</title></head><body><center><h1>${status} ${words}</h1></center><hr><center>nginx</center></body></html>`;

  test.each<[number, string, boolean]>([
    [413, page(413, 'Request Entity Too Large'), true],
    [413, '', true],
    [413, '{"message":"Payload Too Large"}', true],
    [400, '', true],
    [400, '{}', true],
    [400, page(400, 'Bad Request'), true],
    [400, '{"error":{"message":"Bad Request","type":"invalid_request_error"}}', true],
    [500, '', true],
    [500, '{"error":{"message":"The server had an error while processing your request."}}', true],
    [400, '{"error":{"message":"No such field.","param":"top_k"}}', false],
    [400, '{"error":{"message":"It is wrong."}}', false],
    [500, '{"error":{"message":"A call lacks its thought_signature."}}', false],
    [500, '{"error":{"message":"System role not supported"}}', false],
    [500, '{"error":{"message":"Unknown parameter: stream_options"}}', false],
    [500, '{"error":{"message":"The server is overloaded, try again."}}', false],
    [502, '', false],
    [401, '', false],
    [404, '', false],
  ])('%d %s: %s', (status, body, may) => {
    expect(failureOf({ status, body, nowMs: 0 }).maybeTooLong).toBe(may);
  });
});
