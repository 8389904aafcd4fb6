import type { Request } from 'express';
import { maxUncapturedChars, uncapturedHeader } from '@suzumio/protocol/model-chat';

/** Why the workspace could not be captured before a request, as its worker's door says; undefined where it was, or need not be. */
export function uncapturedIn(request: Request): string | undefined {
  const named = request.get(uncapturedHeader);
  if (named === undefined) return undefined;
  try {
    return decodeURIComponent(named).slice(0, maxUncapturedChars).toWellFormed();
  } catch {
    return 'The workspace could not be captured.';
  }
}
