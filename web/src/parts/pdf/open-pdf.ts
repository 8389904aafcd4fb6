import { getDocument, type PDFDocumentProxy, PDFWorker } from 'pdfjs-dist/legacy/build/pdf.mjs';
import workerAddress from 'pdfjs-dist/legacy/build/pdf.worker.min.mjs?url';

/** Browsers without trusted types have no such thing. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(address: string): string },
  ): {
    createScriptURL(address: string): string;
  };
}

/** The one policy that this page's own allows: it lets one file be a worker. */
const policy = (window as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('suzumio-worker', {
  createScriptURL(address) {
    if (address === workerAddress) return address;
    throw new TypeError('No other file of this page is a worker.');
  },
});

/** What it says is for the console of its makers; only errors. */
const verbosity = 0;

/** A PDF that is open in a worker of its own. */
export interface OpenPdf {
  readonly document: Promise<PDFDocumentProxy>;
  /** Ends the worker, whatever it does. */
  close(): void;
}

/** Opens a PDF. It runs no scripts of it, fetches nothing, and draws no picture of more than 16 million points. */
export function openPdf(content: Uint8Array): OpenPdf {
  const port = new Worker(policy?.createScriptURL(workerAddress) ?? workerAddress, { type: 'module' });
  const task = getDocument({
    // The worker keeps what it is given.
    data: content.slice(),
    worker: PDFWorker.create({ port, verbosity }),
    verbosity,
    enableXfa: false,
    useWasm: false,
    useWorkerFetch: false,
    disableRange: true,
    disableStream: true,
    disableAutoFetch: true,
    maxImageSize: 16 * 1024 * 1024,
    canvasMaxAreaInBytes: 64 * 1024 * 1024,
  });
  return {
    document: task.promise,
    close() {
      // A worker that is busy does not answer that it was told to end.
      task.destroy().catch(() => undefined);
      port.terminate();
    },
  };
}
