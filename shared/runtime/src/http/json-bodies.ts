import express from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/** Reads JSON bodies. One that is said to be longer is refused at once: the parser would read all of it before it says so. */
export function jsonBodies(limitBytes: number): ReturnType<typeof express.json> {
  const parser = express.json({ limit: limitBytes });
  return (request, response, next) => {
    if (Number(request.headers['content-length'] ?? 0) <= limitBytes) {
      parser(request, response, next);
      return;
    }
    const message = `The body is too large; at most ${limitBytes} bytes are taken.`;
    next(new SuzumioError('body-too-large', message, { limitBytes }));
  };
}
