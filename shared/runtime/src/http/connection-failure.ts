/**
 * Why a provider could not be reached, for the person who wrote its address, with what to check.
 *
 * @param address the requested URL; only its host is shown
 */
export function connectionFailure(error: unknown, address: string): string {
  const { hostname, host, protocol } = new URL(address);
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const could = `the provider at ${host} could not be asked`;
  switch (code) {
    case 'ECONNREFUSED':
      return `${could}: nobody listens there (${code}); see that it is started, and that its address has the right port`;
    case 'ENOTFOUND':
      return `${could}: there is no host named ${hostname} (${code}); look at its baseURL`;
    case 'EAI_AGAIN':
      return `${could}: the name ${hostname} could not be looked up (${code}); look at its baseURL, and at this machine's DNS`;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return `${could}: no way leads there (${code}); look at its baseURL, and at the network of the ToolHost`;
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return `${could}: it does not speak TLS (${code}); its baseURL may have to begin with http://`;
    case 'HPE_INVALID_CONSTANT':
      return `${could}: what answers there does not speak HTTP${protocol === 'http:' ? ', or wants https://' : ''} (${code}); look at its baseURL`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `${could}: its certificate is for another name (${code}); look at its baseURL`;
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/.test(code)) {
    return `${could}: its certificate is not trusted (${code}); NODE_EXTRA_CA_CERTS names a file with the authority that signed it`;
  }
  return `${could}: ${message}`;
}

/** The error's code; where a name has several addresses, that of the first. */
function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  // By its fields: the class differs in a test runner's realm.
  if ('errors' in error && Array.isArray(error.errors)) return codeOf(error.errors[0]);
  return 'cause' in error ? codeOf(error.cause) : '';
}
