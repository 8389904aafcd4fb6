import '@fontsource-variable/ibm-plex-sans/wght.css';
import '@fontsource/ibm-plex-serif/latin-500.css';
import '@fontsource/ibm-plex-mono/latin-400.css';
import '../theme/tokens.css';
import '../theme/base.css';
import '../theme/parts.css';
import '../theme/docs.css';
import { addCopyButtons } from './copy.js';
import { searchHere } from './search.js';

/** The root of the server, also where a proxy serves it below a path: this file lies one directory below. */
const here = import.meta.url;
const root = new URL('..', here);

leadOn();
if (matchMedia('(min-width: 900px)').matches) {
  document.querySelector('.docs-rail [aria-current]')?.scrollIntoView({ block: 'nearest' });
}
addCopyButtons();
searchHere(root);
if (document.querySelector('.docs-try') !== null) {
  import('./try.js').then(({ offerCalls }) => offerCalls(root)).catch(() => undefined);
}

/** Where `/docs` was the page of the API, its links named operations and schemas. */
function leadOn(): void {
  const anchor = location.hash.slice(1);
  if (anchor === '' || document.getElementById(anchor) !== null) return;
  const path = location.pathname.slice(root.pathname.length);
  const isSchema = anchor.startsWith('schema-');
  if (path === 'docs') location.replace(new URL(`docs/api${isSchema ? '/schemas' : ''}#${anchor}`, root));
}
