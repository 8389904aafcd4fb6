import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import { hostPolicy } from '../host-policy.js';
import { policyFile } from '../policy-file.js';
import type { Session } from '../session.js';
import { broken, type Finding, ok } from './check.js';

/** What project files may ask of this machine: whether that is written so that it can be read, and where. */
export function checkPolicy(session: Session): Finding {
  try {
    hostPolicy(session);
    return ok('policy', policyFile(session) ?? 'the defaults (no policy.yaml in the data directory)');
  } catch (error) {
    return broken('policy', messageOf(error), 'correct the file; until then nothing is served');
  }
}
