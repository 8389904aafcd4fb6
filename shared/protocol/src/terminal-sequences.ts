/**
 * What terminals take for commands: strings that they end themselves (titles, links), control sequences (colours, the cursor), and
 * escapes of a character. None goes on over another escape, so that each character is looked at for one sequence only.
 */
const sequences =
  // oxlint-disable-next-line no-control-regex -- finding control characters is what this is for
  /(?:\u001b[P\]X^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090-\u009f]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-~]/gu;

/** A text without what only a terminal understands, in a time that grows with its length and no faster. */
export function withoutTerminalSequences(text: string): string {
  return text.replace(sequences, '');
}
