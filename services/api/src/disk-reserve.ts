import type { RequestHandler } from 'express';
import type { DiskSpace } from '@suzumio/store/sqlite/disk-space';

/** Refuses changes while the disk's reserve for them is touched. Deletions continue: they free space. */
export function keepDiskReserve(disk: DiskSpace): RequestHandler {
  return (request, _response, next) => {
    if (!['GET', 'HEAD', 'DELETE'].includes(request.method)) disk.require('mail');
    next();
  };
}
