import * as z from 'zod';
import { duration } from '@suzumio/protocol/duration';
import { decimal, flag, line, wholeNumber } from './scalar-config.js';

const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'expected the name of an environment variable, not its value' });

/** Headers that would redirect a request away from the address that the policy allows, or break its framing. */
const reservedHeaders = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'expect',
  'te',
]);
const headerName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, { error: 'expected the name of an HTTP header' })
  .refine((name) => !reservedHeaders.has(name.toLowerCase()), {
    error: 'this header is not for a project file to set',
  });
const headerValue = line(8192).regex(/^[\t\x20-\x7e]*$/, { error: 'expected printable ASCII characters' });

const headers = z.record(headerName, headerValue);

/** The shortest `timeoutMs` of a provider: no model answers sooner with any certainty. */
export const shortestTimeoutMs = 1_000;

/** A model provider. Secrets are named by variable and never enter the config. */
export const modelProvider = z
  .strictObject({
    type: z.literal('openai-compatible'),
    baseURL: z.exactOptional(line(2048)),
    baseURLEnv: z.exactOptional(variableName),
    apiKeyEnv: z.exactOptional(variableName),
    timeoutMs: z.exactOptional(duration),
    /** How long an answer may be silent. @default 2 min */
    chunkTimeoutMs: z.exactOptional(duration.pipe(z.int().min(1))),
    /** Whether to request usage of streams, which some servers refuse. @default true */
    streamUsage: z.exactOptional(flag),
    headers: z.exactOptional(headers),
  })
  .refine((provider) => (provider.baseURL === undefined) !== (provider.baseURLEnv === undefined), {
    error: 'a provider needs either baseURL or baseURLEnv',
  });

const dollarsPerMillion = decimal(0, 1_000_000);

/** Dollars for a million tokens. Input tokens that are read from a cache, or written to it, cost `input` by default. */
export const modelPrice = z.strictObject({
  input: dollarsPerMillion,
  cached: z.exactOptional(dollarsPerMillion),
  cacheWrite: z.exactOptional(dollarsPerMillion),
  output: dollarsPerMillion,
});
export type ModelPrice = z.infer<typeof modelPrice>;

/** The fields in which servers take the longest answer. */
export const maxTokensField = z.enum(['max_tokens', 'max_completion_tokens', 'max_output_tokens']);
export type MaxTokensField = z.infer<typeof maxTokensField>;

/** The roles in which servers take the system's message. */
export const systemRole = z.enum(['system', 'developer', 'user']);
export type SystemRole = z.infer<typeof systemRole>;

const singlePreset = z.strictObject({
  provider: line(120),
  model: line(200),
  apiModel: z.exactOptional(line(200)),
  api: z.exactOptional(z.enum(['chat-completions', 'responses'])),
  temperature: z.exactOptional(decimal(0, 2)),
  topP: z.exactOptional(decimal(0, 1)),
  maxOutputTokens: z.exactOptional(wholeNumber(1, 10_000_000)),
  /** The field in which the longest answer is sent. @default what the provider takes */
  maxTokensField: z.exactOptional(maxTokensField),
  /** The role of the system's message. @default `system`, or another one where the provider refuses that */
  systemRole: z.exactOptional(systemRole),
  /** Whether settings of the preset are left out where the provider refuses them. @default false */
  lenient: z.exactOptional(flag),
  toolChoice: z.exactOptional(z.enum(['auto', 'none', 'required'])),
  reasoningEffort: z.exactOptional(line(40)),
  /** Whether what the provider attaches to answers (reasoning, signatures) is sent back to it, which some refuse. @default true */
  sendReasoning: z.exactOptional(flag),
  /** Beside those of its provider, of which they replace what has the same name. */
  headers: z.exactOptional(headers),
  contextLimit: z.exactOptional(wholeNumber(1, 100_000_000)),
  /** Whether it sees images. @default what is known of models of that name */
  vision: z.exactOptional(flag),
  price: z.exactOptional(modelPrice),
});

const presetList = z.strictObject({ 'model-list': z.array(line(120)).min(1) });

/** Providers, and the presets that agents name. */
export const modelsConfig = z.strictObject({
  providers: z.record(z.string(), modelProvider),
  presets: z.record(z.string(), z.union([singlePreset, presetList])),
});
export type ModelsConfig = z.infer<typeof modelsConfig>;
