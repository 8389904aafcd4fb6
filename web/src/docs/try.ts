import { shown, statusOf } from './answer.js';

/** Whom the server takes this browser for, as far as it matters here. */
interface Who {
  scope: string;
  project: string | null;
}

/** Each scope opens what those before it open; others open nothing here. */
const scopes = ['read', 'mail', 'operate', 'write', 'admin'];

/** Offers to call operations where somebody is signed in, and their scope allows it; else a way to sign in. */
export async function offerCalls(root: URL): Promise<void> {
  const who = await whoAsks(root);
  for (const place of document.querySelectorAll<HTMLElement>('.docs-try')) offer(place, who, root);
  // Answers may have secrets in them: a page that the browser keeps for the way back does not keep them.
  addEventListener('pagehide', () => {
    for (const answer of document.querySelectorAll('.docs-answer')) answer.replaceChildren();
  });
}

async function whoAsks(root: URL): Promise<Who | undefined> {
  const answer = await fetch(new URL('api/session', root));
  return answer.ok ? ((await answer.json()) as Who) : undefined;
}

function offer(place: HTMLElement, who: Who | undefined, root: URL): void {
  const [signIn, refused, details] = ['.docs-try-out', '.docs-try-not', 'details'].map((name) =>
    place.querySelector<HTMLElement>(name),
  );
  if (who === undefined) {
    signIn?.toggleAttribute('hidden', false);
    return;
  }
  const { scope = '', wholeCell, writes } = place.dataset;
  const lack =
    scopes.indexOf(who.scope) < scopes.indexOf(scope)
      ? `You are signed in with the scope ${who.scope}; this needs ${scope}.`
      : wholeCell === 'true' && who.project !== null
        ? `You are signed in for the project ${who.project} alone; this needs a token of the whole cell.`
        : undefined;
  if (lack !== undefined && refused) {
    refused.textContent = lack;
    refused.hidden = false;
    return;
  }
  details?.toggleAttribute('hidden', false);
  const form = place.querySelector('form');
  const project = form?.querySelector<HTMLInputElement>('[data-in="path"][data-name="project"]');
  if (project && who.project !== null && writes !== 'true') project.value = who.project;
  form?.addEventListener('submit', (event) => {
    event.preventDefault();
    call(place, form, root).catch(() => undefined);
  });
}

async function call(place: HTMLElement, form: HTMLFormElement, root: URL): Promise<void> {
  const status = form.querySelector<HTMLElement>('.docs-status');
  const output = form.querySelector<HTMLElement>('.docs-answer');
  const stop = form.querySelector<HTMLButtonElement>('[name="stop"]');
  const send = form.querySelector<HTMLButtonElement>('button:not([name])');
  if (status === null || output === null || stop === null || send === null) return;
  const control = new AbortController();
  const end = () => control.abort();
  stop.addEventListener('click', end);
  addEventListener('pagehide', end);
  stop.hidden = false;
  send.disabled = true;
  try {
    const { address, init } = requestOf(place, form, root);
    const answer = await fetch(address, { ...init, signal: control.signal });
    const parts = await shown(answer, control);
    output.replaceChildren(...parts);
    status.classList.toggle('docs-refused', !answer.ok);
    status.textContent = statusOf(answer);
  } catch (error) {
    output.replaceChildren();
    status.classList.add('docs-refused');
    status.textContent = control.signal.aborted ? 'Stopped.' : error instanceof Error ? error.message : String(error);
  } finally {
    stop.removeEventListener('click', end);
    removeEventListener('pagehide', end);
    stop.hidden = true;
    send.disabled = false;
  }
}

/** @throws SyntaxError if the body is no JSON */
function requestOf(place: HTMLElement, form: HTMLFormElement, root: URL): { address: URL; init: RequestInit } {
  const { method = 'GET', path = '' } = place.dataset;
  const fields = [...form.querySelectorAll<HTMLInputElement | HTMLSelectElement>('[data-in]')];
  const filled = fields.flatMap(({ dataset, value }) =>
    value === '' ? [] : [{ where: dataset['in'], name: dataset['name'] ?? '', value }],
  );
  const inPath = new Map(filled.filter(({ where }) => where === 'path').map(({ name, value }) => [name, value]));
  const address = new URL(
    path.slice(1).replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(inPath.get(name) ?? '')),
    root,
  );
  const headers = new Headers();
  for (const { where, name, value } of filled) {
    if (where === 'query') address.searchParams.set(name, value);
    if (where === 'header') headers.set(name, value);
  }
  const typed = form.querySelector('textarea')?.value;
  if (typed === undefined) return { address, init: { method, headers } };
  headers.set('content-type', 'application/json');
  return { address, init: { method, headers, body: JSON.stringify(JSON.parse(typed || '{}')) } };
}
