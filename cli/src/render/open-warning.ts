/** What a person is told for as long as no token is asked for. */
export const openWarning =
  'WARNING: SUZUMIO_AUTH is off: everybody and every program on this machine may do everything, without a token.';
