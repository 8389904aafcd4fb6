/** A request failed at the proxy. The message has the proxy's host, without its credentials. */
export class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure';

  constructor(
    message: string,
    /** Whether the proxy answers and does not let the request pass: repeating it changes nothing. */
    readonly refused: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Why a provider could not be reached, for the person who wrote its address, with what to check.
 *
 * @param address the requested URL; only its host is shown
 * @param proxy the proxy that a connection was made through, as it is shown
 */
export function connectionFailure(error: unknown, address: string, proxy?: string): string {
  const url = new URL(address);
  const fault = error instanceof ProxyFailure ? error.message : connectionFault(error, url, 'its baseURL');
  const opened = proxy !== undefined && isUntrusted(codeOf(error)) ? `; the proxy at ${proxy} may open TLS` : '';
  return `the provider at ${url.host} could not be asked: ${fault}${opened}`;
}

/** What a connection to an address failed for, with what to check; `setting` is where the address is written. */
export function connectionFault(error: unknown, { hostname, protocol }: URL, setting: string): string {
  const code = codeOf(error);
  switch (code) {
    case 'ECONNREFUSED':
      return `nobody listens there (${code}); see that it is started, and that its address has the right port`;
    case 'ENOTFOUND':
      return `there is no host named ${hostname} (${code}); look at ${setting}`;
    case 'EAI_AGAIN':
      return `the name ${hostname} could not be looked up (${code}); look at ${setting}, and at this machine's DNS`;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return `no way leads there (${code}); look at ${setting}, and at the network of the ToolHost`;
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return `it does not speak TLS (${code}); ${setting} may have to begin with http://`;
    case 'HPE_INVALID_CONSTANT':
      return `what answers there does not speak HTTP${protocol === 'http:' ? ', or wants https://' : ''} (${code}); look at ${setting}`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `its certificate is for another name (${code}); look at ${setting}`;
  }
  if (isUntrusted(code)) {
    return `its certificate is not trusted (${code}); NODE_EXTRA_CA_CERTS names a file with the authority that signed it`;
  }
  return error instanceof Error ? error.message : String(error);
}

const isUntrusted = (code: string) =>
  code !== 'ERR_TLS_CERT_ALTNAME_INVALID' && /CERT|SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/.test(code);

/** The error's code; where a name has several addresses, that of the first. */
function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  // By its fields: the class differs in a test runner's realm.
  if ('errors' in error && Array.isArray(error.errors)) return codeOf(error.errors[0]);
  return 'cause' in error ? codeOf(error.cause) : '';
}
