/** Which rows of `model_calls` usage counts: calls that were answered, and those that cost something all the same. */
export const isPaid = `(model_calls.status = 'answered' OR model_calls.input_tokens + model_calls.output_tokens > 0)`;

/** The day of UTC to which such a call counts. */
export const dayOfCall = `date(model_calls.ended_at_ms / 1000, 'unixepoch')`;
