/** The warning while no token is required. */
export const openWarning =
  'WARNING: SUZUMIO_AUTH is off: everybody and every program on this machine may do everything, without a token.';
