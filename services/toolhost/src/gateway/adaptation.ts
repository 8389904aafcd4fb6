import type { MaxTokensField, SystemRole } from '@suzumio/contract/model/models-config';
import type { Candidate } from '@suzumio/core/budgets/presets';
import type { Adaptation } from '@suzumio/store/models/adaptations';
import { ownMaxTokensField } from './chat.js';
import { fitsUnder, grantedAnswer } from './granted-answer.js';
import type { ProviderFailure } from './provider-failure.js';
import { isAboutRole } from './refusal-words.js';

/** Settings of a preset that a server may refuse, by the fields that they are sent as. */
const ownFields = [
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['tool_choice', 'toolChoice'],
  ['reasoning_effort', 'reasoningEffort'],
] as const;
type OwnSetting = (typeof ownFields)[number][1];

const boundFields: readonly MaxTokensField[] = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'];
const roles: readonly SystemRole[] = ['system', 'developer', 'user'];

/** How a request was made, as far as its refusal may concern it. */
export interface SentRequest {
  /** The longest answer that it asked for. */
  readonly maxTokens: number | undefined;
}

/**
 * What one candidate is sent instead of what it has refused, within one call. Unasked, only `stream_options`, the name of the
 * system's role and the name of the longest answer change; that answer may get shorter. A preset's own settings are omitted
 * where it is `lenient`.
 */
export class Negotiation {
  #adaptation: Adaptation;
  /** What has been refused in this call: nothing is tried twice. */
  readonly #tried = new Set<string>();
  /** The longest answer to this question alone. */
  #longest: number | undefined;

  constructor(
    private readonly original: Candidate,
    private readonly baseURL: string,
    private readonly known: Adaptation = {},
  ) {
    this.#adaptation = known;
  }

  /** The candidate with the settings that it is asked with. */
  get candidate(): Candidate {
    const { settings, provider } = this.original;
    const { streamUsage, refused = {} } = this.#adaptation;
    const isRefused = (name: string) => name in refused && refused[name] === settings[name as OwnSetting];
    const rest = Object.entries(settings).filter(([name]) => settings.lenient !== true || !isRefused(name));
    const adapted = {
      ...(Object.fromEntries(rest) as typeof settings),
      systemRole: this.#role,
      maxTokensField: this.#boundField,
    };
    return {
      ...this.original,
      settings: adapted,
      provider: { ...provider, ...(streamUsage === false ? { streamUsage } : {}) },
    };
  }

  /** The longest answer that may be asked for. */
  get maxAnswer(): number {
    return Math.min(this.#adaptation.maxAnswer ?? Infinity, this.#longest ?? Infinity);
  }

  /** What was learnt in this call, if anything was. */
  get learnt(): Adaptation | undefined {
    return this.#adaptation === this.known ? undefined : this.#adaptation;
  }

  /** What differs from the preset's settings, in words. */
  get changes(): string[] {
    const { settings, provider } = this.original;
    const { settings: adapted } = this.candidate;
    const own = ownFields.filter(([, setting]) => settings[setting] !== adapted[setting]);
    return [
      ...(this.#adaptation.streamUsage === false && provider.streamUsage !== false ? ['stream_options left out'] : []),
      ...(this.#role === this.#ownRole ? [] : [`system message sent as ${this.#role}`]),
      ...(this.#boundField === this.#ownBoundField ? [] : [`${this.#ownBoundField} sent as ${this.#boundField}`]),
      ...(this.maxAnswer === Infinity ? [] : [`answer limited to ${this.maxAnswer} tokens`]),
      ...own.map(([field]) => `${field} left out`),
    ];
  }

  /**
   * Learns from a refusal.
   *
   * @returns whether another request may be answered
   */
  learn(failure: ProviderFailure, { maxTokens }: SentRequest): boolean {
    if (failure.kind === 'context-overflow') return this.#lower(fitsUnder(failure.words, maxTokens));
    if (failure.kind !== 'request-refused' || failure.isAboutContent) return false;
    const text = `${failure.param} ${failure.words}`;
    if (isAboutRole(text) || /^instructions$/.test(failure.param)) return this.#renameRole(text);
    const named = this.#named(failure);
    const changed = named.map((field) => this.#change(field, text, maxTokens));
    return changed.length > 0 && changed.every(Boolean);
  }

  /** The fields that were sent and are refused, and the settings that they come from: `temperature (temperature)`. */
  static advice({ kind, param, words: message }: ProviderFailure, candidate: Candidate): string {
    const { settings, provider } = candidate;
    if (kind !== 'request-refused') return '';
    const text = `${param} ${message}`;
    if (isAboutRole(text))
      return `it does not take the role of the system's message: set systemRole of preset ${candidate.preset}`;
    const [bound] = boundFields.filter((field) => names(field, text));
    const own = ownFields.filter(([field, setting]) => settings[setting] !== undefined && names(field, text));
    if (own.length > 0) {
      const settingsOf = own
        .map(([field, setting]) => (field === setting ? setting : `${setting} (${field})`))
        .join(', ');
      return `it refuses ${settingsOf} of preset ${candidate.preset}: change or remove that, or set lenient: true there, which leaves out what is refused`;
    }
    if (bound !== undefined) {
      return `it refuses ${bound}, which says how long an answer may be: look at maxTokensField and maxOutputTokens of preset ${candidate.preset}`;
    }
    if (names('stream_options', text))
      return `set streamUsage: false at provider "${settings.provider}", where that is ${String(provider.streamUsage ?? true)}`;
    if (/encrypted.content|reasoning_content|reasoning_details|signature|\binclude\b/i.test(text)) {
      return `look at sendReasoning of preset ${candidate.preset}`;
    }
    return '';
  }

  get #ownRole(): SystemRole {
    return this.original.settings.systemRole ?? 'system';
  }

  get #role(): SystemRole {
    return this.#keeps('systemRole') ? this.#ownRole : (this.#adaptation.systemRole ?? this.#ownRole);
  }

  get #ownBoundField(): MaxTokensField {
    const { maxTokensField, api } = this.original.settings;
    return maxTokensField ?? (api === 'responses' ? 'max_output_tokens' : ownMaxTokensField(this.baseURL));
  }

  get #boundField(): MaxTokensField {
    return this.#keeps('maxTokensField')
      ? this.#ownBoundField
      : (this.#adaptation.maxTokensField ?? this.#ownBoundField);
  }

  /** Whether a preset sets something that is not to change. */
  #keeps(setting: 'systemRole' | 'maxTokensField'): boolean {
    const { settings } = this.original;
    return settings[setting] !== undefined && settings.lenient !== true;
  }

  #named({ param, words: message }: ProviderFailure): string[] {
    const { settings } = this.candidate;
    const sent = [
      'stream_options',
      this.#boundField,
      ...ownFields.flatMap(([field, setting]) => (settings[setting] === undefined ? [] : [field])),
    ];
    const byParam = sent.filter((field) => names(field, param));
    if (byParam.length > 0) return byParam;
    // What would be right is named after what is wrong.
    const wrong =
      message.split(
        /\b(?:instead|use|try|expected|allowed|supported|valid|known) (?:[\w ]{0,20}:|['"`]|fields|parameters|one of)/i,
      )[0] ?? '';
    const found = sent.filter((field) => names(field, wrong));
    const only = /cannot both|not both|only one of|together/i.test(message);
    return only ? found.slice(-1) : found;
  }

  #change(field: string, text: string, maxTokens: number | undefined): boolean {
    if (field === 'stream_options') return this.#set(field, { streamUsage: false });
    if (field === this.#boundField) {
      const granted = grantedAnswer(text, maxTokens);
      if (granted !== undefined) return this.#set('maxAnswer', { maxAnswer: granted });
      return this.#renameBound(text);
    }
    const setting = ownFields.find(([one]) => one === field)?.[1];
    const { settings } = this.original;
    if (setting === undefined || settings.lenient !== true) return false;
    return this.#set(field, { refused: { ...this.#adaptation.refused, [setting]: settings[setting] } });
  }

  #renameBound(text: string): boolean {
    if (this.#keeps('maxTokensField')) return false;
    const tried = this.#boundField;
    this.#tried.add(tried);
    const usual = this.original.settings.api === 'responses' ? boundFields.toReversed() : boundFields.slice(0, 2);
    const left = [...boundFields.filter((field) => mentions(field, text)), ...usual].filter(
      (field) => !this.#tried.has(field),
    );
    const [next] = left;
    return next !== undefined && this.#set(`to ${next}`, { maxTokensField: next });
  }

  #renameRole(text: string): boolean {
    if (this.#keeps('systemRole')) return false;
    this.#tried.add(this.#role);
    const onlyUser =
      /only (the )?user,? (and |or )?assistant|(expected|be|one of)[^.;\n]{0,20}\W?user\W{1,3}(or|and|,)?\W{0,3}assistant\W*($|at |\.)/i.test(
        text,
      );
    const next = onlyUser ? 'user' : roles.find((role) => !this.#tried.has(role));
    return next !== undefined && !this.#tried.has(next) && this.#set(`to ${next}`, { systemRole: next });
  }

  #lower(longest: number | undefined): boolean {
    if (longest === undefined || this.#longest !== undefined) return false;
    this.#longest = longest;
    return true;
  }

  #set(what: string, change: Adaptation): boolean {
    if (this.#tried.has(what)) return false;
    this.#tried.add(what);
    this.#adaptation = { ...this.#adaptation, ...change };
    return true;
  }
}

/** Whether a text names a field, in any spelling: `top_p`, `topP`, `top p`. */
function names(field: string, text: string): boolean {
  const spelling = field.split('_').join('[ _.-]?');
  return new RegExp(`(?<![a-z])${spelling}(?![a-z])`, 'i').test(text);
}

/** Whether a text names a field as it is sent. */
function mentions(field: string, text: string): boolean {
  return new RegExp(`(?<![a-z_])${field}(?![a-z_])`).test(text);
}
