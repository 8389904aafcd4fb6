import { describe, expect, test } from '@jest/globals';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { candidatesFor } from '@suzumio/core/budgets/presets';
import { defaultTimeoutMs, endpointOf, providerRequest } from '../../src/gateway/provider-request.js';

const candidate = (provider: string, preset = '') => {
  const { config } = loadProjectText(
    `name: p
task: t
backend:
  runner:
    model: only
    models:
      providers: { one: { type: openai-compatible, ${provider} } }
      presets: { only: { provider: one, model: m ${preset} } }
agents: { ada: { role: r, prompt: p } }
`,
    'test.yaml',
  );
  const [first] = candidatesFor(config, 'ada');
  if (!first) throw new Error('there is no candidate');
  return first;
};
const secrets = (values: Record<string, string>) => ({ read: (name: string) => values[name] });
const chat = { messages: [{ role: 'user' as const, content: 'Well?' }], stream: false };
const how = { budgeted: false };

describe('the request to a provider', () => {
  test('goes to the address that a variable names, with the key of another', () => {
    const one = candidate('baseURLEnv: WHERE, apiKeyEnv: KEY');
    const endpoint = endpointOf(one, secrets({ WHERE: 'http://models:8000/v1', KEY: 'k' }));
    expect(endpoint).toMatchObject({ baseURL: 'http://models:8000/v1', headers: { authorization: 'Bearer k' } });
    expect(endpoint.key).toMatch(/^models:8000#[0-9a-f]{8}$/);
  });

  test.each([
    ['a variable without a value', 'baseURLEnv: WHERE', {}, /its address from the variable WHERE, which is not set/],
    ['no address', 'baseURLEnv: WHERE', { WHERE: 'models' }, /no http:\/\/ or https:\/\/ URL/],
    ['another protocol', 'baseURLEnv: WHERE', { WHERE: 'file:///etc/passwd' }, /no http:\/\/ or https:\/\/ URL/],
    [
      'a key that cannot be sent',
      'baseURL: "http://models", apiKeyEnv: KEY',
      { KEY: 'two\nlines' },
      /KEY, .* holds blanks/,
    ],
    ['a key that is not set', 'baseURL: "http://models", apiKeyEnv: KEY', {}, /its key from the variable KEY/],
  ])('is not made with %s', (_name, provider, values, message) => {
    expect(() => endpointOf(candidate(provider), secrets(values as Record<string, string>))).toThrow(message);
  });

  test.each([
    ['a short question leaves the context less the question', 'Well?', '', 8_150, 8_185],
    ['a long one leaves what is left', 'x'.repeat(18_000), '', 2_100, 2_192],
    ['one that is estimated to fill it leaves a sixteenth', 'x'.repeat(60_000), '', 512, 512],
    ['a preset that asks for less gets that', 'Well?', ', maxOutputTokens: 100', 100, 100],
  ])('asks for no longer answer than the context has room for: %s', (_, content, preset, least, most) => {
    const one = candidate('baseURL: "http://m"', `, contextLimit: 8192${preset}`);
    const messages = [{ role: 'user' as const, content }];
    const { body } = providerRequest(one, endpointOf(one, secrets({})), { ...chat, messages }, { budgeted: true });
    const bound = (body as Record<string, unknown>)['max_tokens'];
    expect(bound).toBeGreaterThanOrEqual(least);
    expect(bound).toBeLessThanOrEqual(most);
  });

  test('has no authorization where the provider names no key: local servers want none', () => {
    expect(endpointOf(candidate('baseURL: "http://127.0.0.1:11434/v1"'), secrets({})).headers).toEqual({});
  });

  test('has the headers of its provider and of the preset, which go before', () => {
    const one = candidate(
      'baseURL: "http://m", headers: { X-Team: north, x-desk: "1" }',
      ', headers: { x-team: south, x-kind: brief }',
    );
    const endpoint = endpointOf(one, secrets({}));
    expect(endpoint.headers).toEqual({ 'x-team': 'south', 'x-desk': '1', 'x-kind': 'brief' });
    const other = candidate('baseURL: "http://m", headers: { X-Team: north, x-desk: "1" }');
    expect(endpointOf(other, secrets({})).circuit).not.toBe(endpoint.circuit);
  });

  test('is set as the preset says, and only so', () => {
    const one = candidate('baseURL: "http://m"', ', topP: 0.5, toolChoice: required, reasoningEffort: low');
    const tools = [{ type: 'function' as const, function: { name: 'look' } }];
    const { body } = providerRequest(one, endpointOf(one, secrets({})), { ...chat, tools }, how);
    expect(body).toEqual({
      model: 'm',
      messages: chat.messages,
      tools,
      tool_choice: 'required',
      top_p: 0.5,
      reasoning_effort: 'low',
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test('asks for no counting in a stream where the provider refuses that', () => {
    const one = candidate('baseURL: "http://m", streamUsage: false');
    const { body } = providerRequest(one, endpointOf(one, secrets({})), chat, how);
    expect(body).toMatchObject({ stream: true });
    expect(body).not.toHaveProperty('stream_options');
  });

  test('says no choice of tools where there are none', () => {
    const one = candidate('baseURL: "http://m"', ', toolChoice: required');
    expect(providerRequest(one, endpointOf(one, secrets({})), chat, how).body).not.toHaveProperty('tool_choice');
  });

  test.each([
    ['https://api.openai.com/v1', 'max_completion_tokens'],
    ['https://eu.api.openai.com/v1', 'max_completion_tokens'],
    ['https://x.openai.azure.com/openai/v1', 'max_completion_tokens'],
    ['https://openai.com.example.org/v1', 'max_tokens'],
    ['http://127.0.0.1:11434/v1', 'max_tokens'],
  ])('names the longest answer as %s knows it', (baseURL, field) => {
    const one = candidate(`baseURL: "${baseURL}"`, ', maxOutputTokens: 50');
    expect(providerRequest(one, endpointOf(one, secrets({})), chat, how).body).toMatchObject({ [field]: 50 });
  });

  test('is bounded in time by the provider, or by ten minutes', () => {
    const short = candidate('baseURL: "http://m", timeoutMs: 30s');
    expect(providerRequest(short, endpointOf(short, secrets({})), chat, how)).toMatchObject({
      timeoutMs: 30_000,
      silenceMs: 30_000,
    });
    const quiet = candidate('baseURL: "http://m", timeoutMs: 10m, chunkTimeoutMs: 5m');
    expect(providerRequest(quiet, endpointOf(quiet, secrets({})), chat, how).silenceMs).toBe(300_000);
    const usual = candidate('baseURL: "http://m"');
    expect(providerRequest(usual, endpointOf(usual, secrets({})), chat, how).timeoutMs).toBe(defaultTimeoutMs);
  });
});
