import { balancedEnd, type IsTool, maxCalls, maxHeadChars, nameInJson } from './call-in-json.js';
import { meantName } from './meant-calls.js';
import { type VisibleText, visibleText } from './visible-text.js';

// Models write calls into their text where their server does not read them. Such a call differs from an answer that describes
// one: the text is the call, or ends with it after a few words that announce it. Only what names one of the agent's tools
// counts.

/** What an answer's text is: an answer, a call in a form that is not carried out, or nothing. */
export type Meaning = 'answer' | 'call' | 'nothing';

/**
 * Reads an answer's text: takes the thoughts out of it, and classifies the rest.
 *
 * @param tools the names of the agent's tools
 * @param hasWorked whether the agent's last calls have succeeded: then what may be an example is one
 */
export function readText(
  written: string,
  tools: readonly string[],
  hasWorked: boolean,
): VisibleText & { meaning: Meaning } {
  const visible = visibleText(written);
  if (isBlank(visible.text)) return { ...visible, meaning: 'nothing' };
  return { ...visible, meaning: callInText(visible.text, tools, hasWorked) === undefined ? 'answer' : 'call' };
}

/** Whether a text has nothing that is seen. */
export function isBlank(text: string): boolean {
  return !/[^\s\p{Cc}\p{Cf}\u2800\u3164]/u.test(text);
}

/** A call that was found in a text. */
interface FoundCall {
  name: string;
  /** Where it ends. */
  end: number;
  /** Whether it stands between marks, and is not just JSON or code. */
  isMarked: boolean;
}

/** How far from a text's beginning a call may begin: after that it is a part of an answer. */
const maxPreambleChars = 1_500;
/** The same where it has no marks. */
const maxPlainPreambleChars = 400;
/** How many calls of a text may be such that are not meant. */
const maxExamples = 8;
/** How many marks may come before a call's name. */
const maxMarks = 20;

/**
 * The tool that a text calls in a form that is not carried out; undefined for an answer.
 *
 * @param tools the names of the agent's tools
 * @param hasWorked whether the agent's last calls have succeeded: then what may be an example is one
 */
export function callInText(answer: string, tools: readonly string[], hasWorked = false): string | undefined {
  const text = answer.trim();
  const isTool = (written: string) => meantName(written.replace(/\.call$/, ''), tools) !== undefined;
  let examples = 0;
  for (const at of candidatesIn(text)) {
    const found = callAt(text, at, isTool);
    if (!found) continue;
    if (isCall(text.slice(0, at), found, text.slice(found.end), hasWorked)) return found.name;
    examples += 1;
    if (examples >= maxExamples) return undefined;
  }
  return undefined;
}

/** Where a call may begin: at a line's beginning, or as a mark within it. What is in a fence is in its fence. */
function* candidatesIn(text: string): Generator<number> {
  for (let at = 0; at < text.length && at <= maxPreambleChars;) {
    const newline = text.indexOf('\n', at);
    const lineEnd = newline < 0 ? text.length : newline;
    const begin = at + (/^[ \t]*/.exec(text.slice(at, Math.min(lineEnd, at + 200)))?.[0].length ?? 0);
    if (begin < lineEnd && begin - at < 4) yield begin;
    const line = text.slice(begin, Math.min(lineEnd, begin + maxPreambleChars));
    for (const { index } of line.matchAll(markWithin)) {
      // An odd number of them before it begins a code span.
      if (line.slice(0, index).split('`').length % 2 === 1) yield begin + index;
    }
    at = text.startsWith('```', begin) ? fenceEnd(text, begin) : lineEnd + 1;
  }
}

const markWithin =
  /(?<=[\p{L}\p{N}.!?:…。！？)*][ \t]{0,3})(?:<[|｜]|<(?:tool_?calls?|function_?calls?|function=|invoke |[\w-]{1,20}:tool_call)|\[TOOL_|Action:)/giu;

const wordsOfTalk =
  /^#{1,6} |\b(?:examples?|e\.g|instances?|such as|looks|look like|format(?:ted|s)?|syntax|templates?|would(?! like)|could|samples?|shape|schema|how|shown?|shows|below|above|writes|wrote|written|emits?|prints?|quot(?:es?|ed)|says|said|received|contains?|docs|documentation|means?|marks?|tags?|tokens?|parsers?|beispiel\w*|z\.\s?b|exemples?|ejemplos?|esempi\w*|exemplos?)\b|例|пример/imu;
const wordsOfReport = /\b(?:was|were|had|has|did|logs?|logged|transcripts?|history|previous(?:ly)?)\b/i;
const wordsOfIntent =
  /\b(?:I(?:['’]ll| will| shall| am|['’]m| need to| should| must| want to| can)|let me|let['’]s|calling|sending|invoking|using|going to|now)\b/i;

/** Whether a call is meant, by what stands around it. */
function isCall(before: string, { isMarked }: FoundCall, rest: string, hasWorked: boolean): boolean {
  const preamble = before.trim();
  const after = rest.trim();
  if (preamble === '') {
    if (after === '') return true;
    // A sentence that continues after it is about it.
    if (/^[ \t]*[\p{Ll},;:.)—–-]/u.test(rest)) return false;
    return !wordsOfTalk.test(after.slice(0, 300)) && (isMarked || !hasWorked);
  }
  if (preamble.length > (isMarked ? maxPreambleChars : maxPlainPreambleChars)) return false;
  const announcing = preamble.slice(-200);
  const isIntent = wordsOfIntent.test(announcing);
  if (wordsOfTalk.test(announcing)) return false;
  if (!isIntent && (hasWorked || wordsOfReport.test(announcing) || /[\p{L}\p{N},][ \t]*$/u.test(before))) return false;
  if (after === '' || /^<[|｜/]?\w*(?:response|results?|output|observation)/i.test(after)) return true;
  return isMarked && isIntent && !hasWorked && !wordsOfTalk.test(after.slice(0, 300));
}

function callAt(text: string, at: number, isTool: IsTool): FoundCall | undefined {
  return (
    fencedCall(text, at, isTool) ??
    markedCall(text, at, isTool) ??
    jsonCall(text, at, isTool) ??
    codeCall(text, at, isTool) ??
    plainCall(text, at, isTool)
  );
}

const fenceHere = /```([\w+-]*)[^\n]*(?:\n|$)/y;
const callLanguages =
  /^(?:|json\w*|tools?|tool_?(?:call|code|use)s?|functions?|function_calls?|xml|html|py|python|text|txt|plaintext)$/i;

function fenceEnd(text: string, at: number): number {
  const closing = text.indexOf('\n```', at + 3);
  return closing < 0 ? text.length : closing + 4;
}

function innerText(fenced: string): string {
  const text = fenced.trimEnd();
  return (text.endsWith('```') ? text.slice(0, -3) : text).trim();
}

/** A fence that holds a call and nothing else. */
function fencedCall(text: string, at: number, isTool: IsTool): FoundCall | undefined {
  const [opening, language = ''] = matchHere(fenceHere, text, at) ?? [];
  if (opening === undefined || !callLanguages.test(language)) return undefined;
  const end = fenceEnd(text, at);
  const inner = innerText(text.slice(at + opening.length, end));
  const found = inner.startsWith('```') ? undefined : callAt(inner, 0, isTool);
  if (found && inner.slice(found.end).trim() === '') {
    const more = nextCall(text, end, isTool);
    return { name: found.name, end: more?.end ?? end, isMarked: found.isMarked };
  }
  const named = /tool_?code/i.test(language) ? nameInCode(inner, isTool) : undefined;
  return named === undefined ? undefined : { name: named, end, isMarked: true };
}

/** Another call of the same kind right after one. */
function nextCall(text: string, from: number, isTool: IsTool): FoundCall | undefined {
  let last: FoundCall | undefined;
  for (let calls = 0; calls < maxCalls; calls += 1) {
    const at = afterSpace(text, last?.end ?? from);
    const opening = matchHere(fenceHere, text, at)?.[0];
    if (opening === undefined) return last;
    const end = fenceEnd(text, at);
    const inner = innerText(text.slice(at + opening.length, end));
    const found = inner.startsWith('```') ? undefined : callAt(inner, 0, isTool);
    if (!found || inner.slice(found.end).trim() !== '') return last;
    last = { ...found, end };
  }
  return last;
}

const nameText = '([\\w.:/-]{1,100})';
/** A mark that has the name in it. */
const namingMark = new RegExp(
  `<(?:[|｜]\\w{1,20}[|｜]|[\\w-]{1,20}:)?(?:invoke|function|tool|tool_call|tool_use|use_tool|call)(?:\\s+name\\s*=\\s*|\\s*=\\s*)["']?${nameText}`,
  'iy',
);
/** A mark that stands before the name, or before JSON. */
const leadingMark =
  /<[|｜][^<>\n=]{0,60}(?:tool|python|dsml|action|plugin|function|call)[^<>\n=]{0,60}>|<(?:[\w-]{1,20}:)?\/?(?:[\w-]{0,20}_)?(?:tool_?calls?|function_?calls?|tool_?use|tool_?code|tools?|invoke|function|call)>|\[\/?(?:TOOL_CALLS?|TOOL_REQUEST|TOOLS?|FUNCTION_CALLS?|tool_calls?|tool_code)\]|functools(?=\[)/iy;
const innerMark =
  /<[|｜][^<>\n=]{0,80}[|｜>]?>|<\/?(?:[\w-]{1,20}:)?[\w-]{0,20}(?:call|calls|tools)>|\[\/?[A-Z_]{2,20}\]|```\w*\n/y;
const nameTag = new RegExp(`<(?:tool_name|name|function_name|function|tool|action)>\\s*${nameText}`, 'iy');
const wordName =
  /(?:function\s*(?:<[|｜][^<>\n]{0,40}[|｜]>))?(?:call:|print\(\s*)?(?:functions?[.:/]|default_api\.)?([A-Za-z_][\w.-]{0,99})(?::\d+)?\s*(?=[({<[｜|`\n]|$)/y;
const channelCall =
  /(?:<\|start\|>)?(?:assistant)?\s*(?:<\|channel\|>)?(?:assistant)?\s*(?:analysis|commentary|final)?\s*\bto=(?:functions?\.)?([\w.:-]{1,100})/iy;
const reactCall =
  /\**(?:Action|Tool|Function)(?:[ _](?:Call|Name))?\**\s*:\s*\**\s*`?([\w.-]{1,100})`?[ \t]*\n+\s*\**(?:Action[ _])?(?:Input|Arguments|Args|Parameters)\**\s*:/iy;
const toolTag = /<([A-Za-z_][\w.-]{2,99})>\s*(?=[<{])/y;
const closingMark =
  /<\/[\w:｜|-]{1,60}>|<[|｜]?\/?[^<>\n]{0,60}(?:end|call|section|eom|eot|tool)[^<>\n]{0,60}[|｜]?>|\[(?:\/|END_)[A-Z_]{2,20}\]/gi;

function markedCall(text: string, at: number, isTool: IsTool): FoundCall | undefined {
  for (const pattern of [channelCall, reactCall]) {
    const [, written = ''] = matchHere(pattern, text, at) ?? [];
    if (isTool(written)) return { name: written, end: text.length, isMarked: true };
  }
  const name = markedName(text, at, isTool);
  return name === undefined ? undefined : { name, end: endOfMarked(text, at), isMarked: true };
}

function markedName(text: string, from: number, isTool: IsTool): string | undefined {
  const [, tag = ''] = matchHere(toolTag, text, from) ?? [];
  if (isTool(tag)) return tag;
  const [, own] = matchHere(namingMark, text, from) ?? [];
  if (own !== undefined) return isTool(own) ? own : undefined;
  let mark = matchHere(leadingMark, text, from)?.[0];
  let at = from;
  for (let marks = 0; mark !== undefined && marks < maxMarks; marks += 1) {
    at = afterSpace(text, at + mark.length);
    for (const pattern of [namingMark, nameTag, wordName, toolTag]) {
      const [, written] = matchHere(pattern, text, at) ?? [];
      if (written !== undefined && isTool(written)) return written;
    }
    mark = matchHere(innerMark, text, at)?.[0];
    if (mark !== undefined || !'{['.includes(text[at] ?? ' ')) continue;
    const end = balancedEnd(text, at);
    return nameInJson(text.slice(at, end < 0 ? at + maxHeadChars : end), isTool, true);
  }
  return undefined;
}

/** Where a call between marks ends: at its last mark, or with its JSON, or with the text where it was cut. */
function endOfMarked(text: string, at: number): number {
  closingMark.lastIndex = at + 1;
  let last = 0;
  for (let match = closingMark.exec(text); match; match = closingMark.exec(text)) last = closingMark.lastIndex;
  const opening = text.slice(at, at + maxHeadChars).search(/[{(]|\[(?![A-Z/])/);
  const end = opening < 0 ? -1 : balancedEnd(text, at + opening);
  if (end < 0) return text.length;
  const rest = matchHere(/[\s)\]};]*/y, text, Math.max(end, last))?.[0] ?? '';
  return Math.max(end, last) + rest.trimEnd().length;
}

/** JSON that is one call, or several. */
function jsonCall(text: string, at: number, isTool: IsTool): FoundCall | undefined {
  let name: string | undefined;
  let end = at;
  for (let calls = 0; calls < maxCalls; calls += 1) {
    const begin = matchHere(/[\s,;]*/y, text, end)?.[0].length ?? 0;
    if (!'{['.includes(text[end + begin] ?? ' ')) break;
    const head = text.slice(end + begin, end + begin + maxHeadChars);
    if (!/^[\s[{]*["']\w/.test(head)) break;
    const closed = balancedEnd(text, end + begin);
    const called = nameInJson(closed < 0 ? head : text.slice(end + begin, closed), isTool, false);
    if (called === undefined) break;
    name ??= called;
    end = closed < 0 ? text.length : closed;
  }
  return name === undefined ? undefined : { name, end, isMarked: false };
}

const codeHere =
  /(?:tool_code\s*\n\s*)?(?:\w{1,40}\s*=\s*)?\[?\s*(?:print\(\s*)?(?:await\s+)?(?:default_api\.|functions?\.|tools?\.)?([A-Za-z_][\w.-]{0,99})\((?=\s*(?:\)|\w{1,60}\s*=[^=]|[{"']))/y;

/** Calls as code: `messages_send(recipient="user")`, or a list of such. */
function codeCall(text: string, at: number, isTool: IsTool): FoundCall | undefined {
  let name: string | undefined;
  let end = at;
  for (let calls = 0; calls < maxCalls; calls += 1) {
    const begin = end + (matchHere(/[\s,;]*/y, text, end)?.[0].length ?? 0);
    const match = matchHere(codeHere, text, begin);
    if (!match?.[1] || !isTool(match[1])) break;
    name ??= match[1];
    const closed = balancedEnd(text, begin + match[0].length - 1);
    end = closed < 0 ? text.length : closed + (matchHere(/[)\]]*/y, text, closed)?.[0].length ?? 0);
  }
  return name === undefined ? undefined : { name, end, isMarked: false };
}

const apiCall = /\bdefault_api\.([A-Za-z_][\w.-]{0,99})\(/g;

function nameInCode(code: string, isTool: IsTool): string | undefined {
  return [...code.slice(0, maxHeadChars).matchAll(apiCall)].map(([, name]) => name ?? '').find(isTool);
}

const plainHere = /(?:functions?\.)?([A-Za-z_][\w.-]{2,99})\s*:?\s*(?=\{\s*["'}])/y;

/** A name with JSON after it, at a text's beginning. */
function plainCall(text: string, at: number, isTool: IsTool): FoundCall | undefined {
  const match = at === 0 ? matchHere(plainHere, text, at) : undefined;
  if (!match?.[1] || !isTool(match[1])) return undefined;
  const closed = balancedEnd(text, match[0].length);
  return { name: match[1], end: closed < 0 ? text.length : closed, isMarked: false };
}

function afterSpace(text: string, at: number): number {
  return at + (matchHere(/\s*/y, text, at)?.[0].length ?? 0);
}

function matchHere(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}
