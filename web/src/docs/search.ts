import { find, type Found, type SearchIndex } from './find.js';

const mostShown = 20;

/** The search of the site: its index is loaded once somebody searches. */
export function searchHere(root: URL): void {
  const input = document.querySelector<HTMLInputElement>('.docs-search input');
  const place = document.querySelector<HTMLElement>('.docs-found');
  if (input === null || place === null) return;
  let index: Promise<SearchIndex> | undefined;
  const load = () =>
    (index ??= fetch(new URL('docs/search.json', root)).then(async (answer) => {
      if (!answer.ok) throw new Error(`The server answers ${answer.status}.`);
      return (await answer.json()) as SearchIndex;
    }));
  // What was closed, or asked anew, meanwhile is not shown.
  let asked = 0;
  const show = async () => {
    const mine = ++asked;
    const words = input.value;
    if (words.trim() === '') {
      place.hidden = true;
      return;
    }
    try {
      const loaded = await load();
      if (mine !== asked) return;
      draw(place, find(loaded, words, mostShown), root);
    } catch {
      index = undefined;
      if (mine !== asked) return;
      say(place, 'The search could not be loaded.');
    }
    place.hidden = false;
  };
  input.addEventListener('input', () => void show());
  input.addEventListener('focus', () => void show());
  input.form?.addEventListener('submit', (event) => {
    event.preventDefault();
    place.querySelector('a')?.click();
  });
  const close = () => {
    asked += 1;
    place.hidden = true;
  };
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('.docs-search') === null) close();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && !isTyped(event.target)) {
      event.preventDefault();
      input.focus();
    } else if (event.key === 'Escape' && !place.hidden) {
      input.focus();
      close();
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !place.hidden) {
      moveBy(event, input, place);
    }
  });
}

function isTyped(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select') !== null;
}

/** From the field to the first that was found, and on. */
function moveBy(event: KeyboardEvent, input: HTMLElement, place: HTMLElement): void {
  const stops = [input, ...place.querySelectorAll('a')];
  const at = stops.findIndex((stop) => stop === document.activeElement);
  if (at < 0) return;
  event.preventDefault();
  stops[at + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
}

function draw(place: HTMLElement, found: readonly Found[], root: URL): void {
  if (found.length === 0) {
    say(place, 'Nothing has all of these words.');
    return;
  }
  const list = document.createElement('ol');
  for (const { path, anchor, title, page, excerpt } of found) {
    const link = document.createElement('a');
    link.href = new URL(`${path}${anchor === '' ? '' : `#${anchor}`}`, root).href;
    link.append(part('strong', title), part('quiet', title === page ? '' : page), part('docs-excerpt', excerpt));
    // A place on this page is gone to without loading it: what was found would stay over it.
    link.addEventListener('click', () => (place.hidden = true));
    const item = document.createElement('li');
    item.append(link);
    list.append(item);
  }
  place.replaceChildren(list);
}

function part(className: string, text: string): HTMLElement {
  const span = document.createElement('span');
  span.className = className;
  span.textContent = text;
  return span;
}

function say(place: HTMLElement, words: string): void {
  const line = part('quiet', words);
  line.role = 'status';
  place.replaceChildren(line);
}
