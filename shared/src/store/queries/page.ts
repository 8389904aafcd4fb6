/** Which part of a list is wanted. */
export interface Page {
  /** How many rows at most. */
  limit: number;
  /** Only rows with a number above this one, oldest first; without it the newest rows. */
  after?: number | undefined;
}

/** An ISO time, or null. */
export function iso(ms: number): string;
export function iso(ms: number | null): string | null;
export function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** A JSON column. */
export function parsed<Value>(json: string | null): Value | null {
  return json === null ? null : (JSON.parse(json) as Value);
}
