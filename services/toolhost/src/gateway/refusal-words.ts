import type { ToldError } from './error-words.js';

// How servers name what they refuse. The words are those of their reports; the kinds are what a caller does about them.

/** What a refusal is about, by its words. */
export interface RefusalWords {
  readonly isOverflow: boolean;
  readonly isSchema: boolean;
  /** The region of the caller is not served: no other key helps. */
  readonly isRegion: boolean;
  readonly isContent: boolean;
  /** The name of the role of the system's message is not known there. */
  readonly isRole: boolean;
  /** It does not take a field, or a value. */
  readonly isField: boolean;
  /** It has no words but those of its status. */
  readonly isBare: boolean;
  /** It names a part of the request other than its size: a field, a role, a signature. */
  readonly namesPart: boolean;
}

export function wordsOfRefusal({ code, type, param, message }: ToldError): RefusalWords {
  const text = `${code} ${type} ${param} ${message}`;
  const isSchema = schemaWords.test(text);
  const isBare = message.replace(ofStatus, '').trim() === '' && param === '';
  return {
    isSchema,
    isOverflow: !isSchema && (overflowCodes.test(`${code} ${type}`) || (!isBare && isAboutLength(message, param))),
    isRegion: regionWords.test(text),
    isContent: contentWords.test(text),
    isRole: roleWords.test(text),
    isField: fieldWords.test(text),
    isBare,
    namesPart: param !== '' || partWords.test(text) || roleWords.test(text) || fieldWords.test(text),
  };
}

const overflowCodes =
  /context_?(length|window|size|limit)_?(exceed|overflow|error)|exceed_?(context|max_?(prompt|input))|context_?overflow|ContextWindowExceeded|request_too_large|(prompt|input)_?too_?(long|large)|max_prompt_tokens_exceeded|tokens_limit_reached/i;

/** The window of a model is named for one reason alone. */
const contextWords =
  /context[ _-]?(length|window|size|limit)|context (the )?overflow|\bn_ctx\b|max_model_len|maximum context/i;

const asked =
  '(?:prompts?|inputs?|messages?|conversation|history|sequence|token(?:s| count| length| limit)?|total (?:length|size)|request)';
const over =
  '(?:exceed\\w*|too (?:long|large|many|big)|(?:longer|larger|bigger) than|over the (?:limit|maximum)|above the (?:limit|maximum)|cannot exceed|must (?:be <=|have less than)|超)';
const overflowWords = [
  new RegExp(`\\b${asked}\\b[^.;\\n]{0,80}?${over}`, 'i'),
  new RegExp(
    `\\b${over}[^.;\\n]{0,60}?\\b(?:(?:input|prompt|request|total) )?(?:tokens?|prompt|input length|messages)\\b`,
    'i',
  ),
  /maximum (prompt|input|sequence) (length|size|tokens)|reduce (the )?(length|size|number) of (the |your )?(prompts?|messages?|inputs?|tokens|conversation)|shorten (the |your )?(prompt|input|messages|conversation)|range of (input|prompt)\w* length|expected maxLength: \d+, actual: \d+|prompt length|上下文|超长/i,
  // What remains for the answer.
  /max_(completion_)?tokens must be at least 1, got -?\d/i,
];
/** Limits of time and of money, which a shorter question need not meet. */
const ofRate =
  /per[ -](minute|min|hour|day|month|second)|\b(TPM|RPM|TPD)\b|quota|rate.?limit|credits?\b|balance|billing|please wait|slow down|throttl/i;
/** Parts with limits of their own. */
const ofPart = /\btools?\b[^a-z]{0,3}[[.\d]|'tools'|too many tools|function[ .]name|\bimages?\b|\bpixels?\b/i;
/** The longest answer that a model grants, which is no matter of the question. */
const ofAnswer = /max[ _-]?((completion|output|new)[ _-]?)?tokens|(completion|output|generated) tokens/i;
const ofQuestion = /context|prompt|input|message/i;

function isAboutLength(text: string, param: string): boolean {
  const message = text.replace(/\binput should be\b/gi, '');
  if (contextWords.test(message)) return true;
  if (/request too large|request exceeds the maximum size/i.test(message)) return true;
  if (/string_?above_?max|(string|array) too long/i.test(message))
    return /\b(messages|input)\b/i.test(`${param} ${message}`) && !ofPart.test(message);
  if (ofRate.test(message) || ofPart.test(message)) return false;
  if (ofAnswer.test(message) && !ofQuestion.test(message.replace(ofAnswer, '')) && !overflowWords[3]?.test(message)) {
    return false;
  }
  return overflowWords.some((words) => words.test(message));
}

/** A schema that a server cannot compile, or does not take. */
const schemaWords =
  /(pars|compil|build|convert|creat|initiali[sz])\w*[^.;\n]{0,40}\bgrammar|grammar[^.;\n]{0,40}(error|invalid|fail|unsupported|not supported|compil)|(unrecogni[sz]ed|unsupported|invalid|unresolvable|malformed)[^.;\n]{0,30}\bschema|\bschema[^.;\n]{0,60}(conversion|invalid|not valid|unsupported|not supported|cannot|failed|fails)|(not a|not) valid[^.;\n]{0,40}schema|(compil|convert|pars)\w*[^.;\n]{0,40}\b(json )?schema|invalid_function_parameters|input_schema|function_?declarations?\b|\btools?\W{0,2}\d+\W[^;\n]{0,40}(parameters|schema)|xgrammar|llguidance|outlines[. ]/i;

const area = '(?:country|region|territor(?:y|ies)|location|jurisdiction|geograph\\w*)';
const unsupported =
  '(?:not (?:available|supported|allowed|permitted|served|eligible|enabled|offered)|unsupported|unavailable|restricted|blocked|forbidden|denied|prohibited)';
const regionWords = new RegExp(
  `unsupported_country|\\b${area}\\b[^.;\\n]{0,60}${unsupported}|${unsupported}[^.;\\n]{0,60}\\b${area}\\b`,
  'i',
);

/** How providers name an objection to what a conversation contains. */
const contentWords =
  /content.?(policy|filter|management|moderation)|(bio|misalignment|usage|safety).?polic|data_residency|safety (system|filter|setting)|moderation|flagged|prohibited|inappropriate|blocked by/i;

/** Words that add nothing to a status does. */
const ofStatus =
  /\b(?:http|error|status|code|[45]\d\d|bad request|request entity too large|payload too large|content too large|internal server error|unprocessable (?:entity|content)|invalid_request_error|server_error|nginx|none|null|unknown|the|an?|was|occurred)\b|[^\p{L}\p{N}]+/giu;

const roleWords =
  /\b(system|developer)\b\W{0,3}(role|message|prompt|instruction)s?\b[^.;\n]{0,60}(\bnot\b|n't\b|unsupported|invalid)|\brole\W{1,4}(of )?\W?(system|developer)\b|variant \W?(system|developer)|\b(system|developer)\W{0,3}(is )?(not|unsupported)|received \W?(system|developer)|does not support \W?(system|developer)|messages?\W{1,2}\d+\W{1,2}role|(unexpected|incorrect|invalid|unsupported|unknown) (message )?role|roles? (must|should) alternate|only (the )?user,? (and )?assistant|(system|developer) (role|messages?)? ?(is|are) only/i;

/** A field that is not known, or a value that is not taken. */
const fieldWords =
  /(unknown|unsupported|unrecogni[sz]ed|unexpected|unpermitted|invalid|extra|additional|deprecated|not support\w*|does not (support|accept|allow))[^.;\n]{0,40}\b(parameters?|arguments?|fields?|inputs?|values?|property|properties|names?|keywords?|options?|params?|kwargs?)\b|\b(parameters?|arguments?|fields?|inputs?|property|properties|keywords?|params?)\b[^.;\n]{0,60}(unknown|unsupported|unrecogni[sz]ed|unexpected|not (supported|permitted|allowed|accepted|recogni[sz]ed|known))|UnsupportedParams|\bmax_(completion_|output_)?tokens\b|extra_forbidden|only the default|cannot both be|must be one of|expected one of/i;

const partWords = /\broles?\b|signature|reasoning|thinking|schema|grammar|\btools?\b|api.?key|template/i;

/** Whether the role of the system message is not taken, by a text. */
export function isAboutRole(text: string): boolean {
  return roleWords.test(text);
}

/** How many tools are named where a refusal names none. */
const maxTools = 12;

/** The tools that a refusal of a schema is about, in words: those that it names, or counts, else all. */
export function toolsRefused(message: string, offered: readonly string[]): string {
  const named = offered.filter((name) => new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(message));
  const at = [...message.matchAll(/(?:tools?|function_?declarations?|functions)\W{1,2}(\d{1,3})\b/gi)].map(
    (match) => offered[Number(match[1])],
  );
  // Gemini has one tool, and functions in it.
  const last = at.at(-1);
  const found = named.length > 0 ? named : last === undefined ? [] : [last];
  if (found.length === 1) return `the tool ${found.join()}`;
  const all = found.length > 0 ? found : offered;
  const more = all.length - maxTools;
  const list = `${all.slice(0, maxTools).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return found.length > 0 ? `the tools ${list}` : `one of the tools ${list}`;
}
