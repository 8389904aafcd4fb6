/** The fields of a problem document (RFC 9457) that clients need. */
export interface ToldProblem {
  readonly code: string;
  readonly detail: string;
}

interface FailedAnswer {
  readonly status: number;
  /** Absent where the answer is no problem document, for instance a proxy's. */
  readonly problem: ToldProblem | undefined;
}

/** No answer, or one that says that the server cannot answer now. The same request may succeed later. */
export class HttpUnavailable extends Error {
  override readonly name = 'HttpUnavailable';
  /** Absent where there was no answer. */
  readonly answer: FailedAnswer | undefined;

  constructor(message: string, { answer, cause }: { answer?: FailedAnswer; cause?: unknown } = {}) {
    super(message, { cause });
    this.answer = answer;
  }
}

/** The failure of a connection. `fetch` only says that it failed; the cause says why. */
export function unavailable(error: unknown): HttpUnavailable {
  return error instanceof HttpUnavailable ? error : new HttpUnavailable(reasonOf(error), { cause: error });
}

function reasonOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  if ('cause' in error && error.cause !== undefined) return reasonOf(error.cause);
  return 'message' in error ? String(error.message) : 'no reason given';
}

/** The server refused the request. Repeating it does not help. */
export class HttpRefusal extends Error {
  override readonly name = 'HttpRefusal';
  readonly status: number;
  /** The problem's code; `http-<status>` where the answer is no problem document. */
  readonly code: string;

  constructor(
    message: string,
    readonly answer: FailedAnswer,
  ) {
    super(message);
    this.status = answer.status;
    this.code = answer.problem?.code ?? `http-${String(answer.status)}`;
  }
}

/** The answer does not have the expected form, for instance because another program is at the address. */
export class HttpAnswerInvalid extends HttpUnavailable {}

/** The problem document in a text, if there is one. */
export function problemIn(text: string): ToldProblem | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('code' in value) || !('detail' in value)) return undefined;
  const { code, detail } = value;
  return typeof code === 'string' && typeof detail === 'string' ? { code, detail } : undefined;
}
