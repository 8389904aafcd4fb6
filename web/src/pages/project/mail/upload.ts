import { SuzumioError } from '@suzumio/sdk/client';
import { publicPath } from '../../../api.js';

/** A file of the person on its way. The answer has the artifact's id. */
interface Upload {
  project: string;
  name: string;
  file: File;
  idempotencyKey: string;
  /** Told how many bytes have gone. */
  progress: (bytes: number) => void;
  signal: AbortSignal;
}

/**
 * Uploads a file as `uploadArtifact` does; `fetch` does not tell how far it is.
 *
 * @throws SuzumioError as the client's methods do
 */
export function upload({ project, name, file, idempotencyKey, progress, signal }: Upload): Promise<{ id: string }> {
  const request = new XMLHttpRequest();
  const address = `${location.origin}${publicPath}`;
  return new Promise((resolve, reject) => {
    const abort = () => request.abort();
    const silent = () =>
      reject(new SuzumioError('server-unreachable', `No Suzumio server answers at ${address}.`, 503));
    request.upload.addEventListener('progress', ({ loaded }) => progress(loaded));
    request.addEventListener('error', silent);
    request.addEventListener('abort', () => reject(signal.reason as Error));
    request.addEventListener('loadend', () => signal.removeEventListener('abort', abort));
    request.addEventListener('load', () => {
      const { status } = request;
      const told = parsed(request.responseText);
      if (status < 300 && typeof told['id'] === 'string') resolve({ id: told['id'] });
      else if (typeof told['code'] === 'string') reject(new SuzumioError(told['code'], String(told['detail']), status));
      else if (status === 413)
        reject(new SuzumioError('body-too-large', `What serves ${address} takes no file as large as this.`, status));
      else silent();
    });
    signal.addEventListener('abort', abort);
    request.open(
      'POST',
      `${address}/api/projects/${encodeURIComponent(project)}/artifacts?${String(new URLSearchParams({ name }))}`,
    );
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.setRequestHeader('idempotency-key', idempotencyKey);
    request.send(file);
  });
}

function parsed(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}
