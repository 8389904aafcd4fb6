import { accessEnvironment, accessOf } from '@suzumio/api';
import { parseEnvironment } from '@suzumio/runtime/process/service-environment';
import type { Session } from '../session.js';
import type { StackOptions } from './stack.js';

/**
 * Who may use the API, as the environment of the command says.
 *
 * @throws SuzumioError `settings-invalid`
 */
export function accessFor({ context }: Session): NonNullable<StackOptions['access']> {
  return accessOf(parseEnvironment(accessEnvironment, context.env));
}
