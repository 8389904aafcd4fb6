import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { jsonFault } from '@suzumio/runtime/http/json-fault';
import { countMembers } from './count-members.js';

/** Looking for the fault in a text means parsing it again and again. */
const searchedChars = 65_536;

/**
 * The value of a JSON text that came as a body.
 *
 * @param mostMembers how many members its lists and objects may have
 * @throws SuzumioError `invalid-request`
 */
export function jsonBody(bytes: Uint8Array, mostMembers: number): unknown {
  if (countMembers(bytes, mostMembers) > mostMembers) {
    const message = `The body is not valid: its lists and objects may have ${String(mostMembers)} members together.`;
    throw new SuzumioError('invalid-request', message);
  }
  const text = new TextDecoder().decode(bytes);
  try {
    return JSON.parse(text);
  } catch (error) {
    const fault = text.length > searchedChars ? 'it cannot be parsed' : jsonFault(text);
    throw new SuzumioError('invalid-request', `The body is not JSON: ${fault}.`, {}, { cause: error });
  }
}
