import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { countMembers } from '@suzumio/protocol/count-members';
import { jsonFault } from '@suzumio/runtime/http/json-fault';

/** Faults are located in texts up to this length only, because that parses the text repeatedly. */
const searchedChars = 65_536;

/**
 * The JSON value of a request's body.
 *
 * @param mostMembers the most members of all lists and objects
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
