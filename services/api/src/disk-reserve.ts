import type { RequestHandler } from 'express';
import type { DiskSpace } from '@suzumio/store/sqlite/disk-space';

/** Refuses changes while the disk has less left than is kept from them. Deletions go on: they give room back. */
export function keepDiskReserve(disk: DiskSpace): RequestHandler {
  return (request, _response, next) => {
    if (!['GET', 'HEAD', 'DELETE'].includes(request.method)) disk.require('mail');
    next();
  };
}
