/** The ToolHost could not be asked, or could not answer: the same request may succeed later. */
export class ToolHostUnavailable extends Error {
  override readonly name = 'ToolHostUnavailable';
}

/** The ToolHost said no (4xx): repeating the request changes nothing. */
export class ToolHostRefusal extends Error {
  override readonly name = 'ToolHostRefusal';

  constructor(
    readonly status: number,
    /** The problem document's code. */
    readonly code: string,
    detail: string,
  ) {
    super(detail);
  }
}
