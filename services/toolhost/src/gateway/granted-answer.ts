/** The shortest answer that is of use. */
export const minAnswerTokens = 256;

/** Words of a longest answer that is too long for the model, whatever it is asked. */
const tooLong =
  /at most|too (large|big|high|long)|greater than|less than|exceed|range|maximum|no more than|up to|[<>]|limit|between|must be/i;

/**
 * The longest answer that a refusal grants, where it names one: "supports at most 4096 completion tokens, whereas you provided
 * 100000".
 */
export function grantedAnswer(report: string, maxTokens: number | undefined): number | undefined {
  if (maxTokens === undefined || !tooLong.test(report)) return undefined;
  const granted = numbersIn(report).filter((number) => number >= 16 && number < maxTokens);
  return granted.length === 0 ? undefined : Math.max(...granted);
}

/**
 * The longest answer that may fit beside a question, after a refusal for the length of both; undefined where none does.
 */
export function fitsUnder(report: string, maxTokens: number | undefined): number | undefined {
  if (maxTokens === undefined || maxTokens <= minAnswerTokens) return undefined;
  const room = roomIn(report);
  if (room === undefined) return Math.max(minAnswerTokens, Math.floor(maxTokens / 4));
  return room < minAnswerTokens ? undefined : Math.min(room, maxTokens - 1);
}

/** What a refusal leaves for the answer, by its figures. */
function roomIn(report: string): number | undefined {
  const sum = /(\d{2,})\s*\+\s*\d+\s*>\s*(\d{2,})/.exec(report.replace(/(\d),(?=\d{3}\b)/g, '$1'));
  if (sum) return Number(sum[2]) - Number(sum[1]);
  const text = report.replace(/(\d),(?=\d{3}\b)/g, '$1');
  const limit = [
    /(?:maximum|max|context|limit|available)[^.;\d]{0,60}?(\d{3,})/i.exec(text)?.[1],
    /(?:exceeds?|longer than|larger than|>)[^.;\d]{0,60}?(\d{3,})/i.exec(text)?.[1],
  ].find((found) => found !== undefined);
  const question = [
    /(\d{2,}) (?:tokens? )?(?:in|of|from) (?:the |your )?(?:messages|prompt|(?:text )?input)/i,
    /(\d{2,}) (?:`?inputs?`?|prompt|message) tokens/i,
    /(?:prompt|input|request|messages)[^.;\d]{0,40}?\(?(\d{3,})/i,
    /resulted in (\d{3,})/i,
  ].flatMap((pattern) => pattern.exec(text)?.[1] ?? [])[0];
  if (limit === undefined || question === undefined || limit === question) return undefined;
  return Number(limit) - Number(question);
}

function numbersIn(report: string): number[] {
  return [...report.replace(/(\d),(?=\d{3}\b)/g, '$1').matchAll(/(?<![\w.-])\d+(?![\w-])/g)].map(([number]) =>
    Number(number),
  );
}
