import '@fontsource-variable/ibm-plex-sans/wght.css';
import '@fontsource/ibm-plex-serif/latin-500.css';
import '@fontsource/ibm-plex-mono/latin-400.css';
import './theme/tokens.css';
import './theme/base.css';
import './theme/parts.css';
import './theme/files.css';
import './theme/turns.css';
import './theme/mail.css';
import './theme/mail-write.css';
import './theme/system.css';
import './theme/search.css';
import './theme/cost.css';
import './theme/run.css';
import './theme/decide.css';
import './theme/make.css';
import './theme/setup.css';
import './theme/keys.css';
import './theme/people.css';
import './theme/low.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { useSearch } from 'wouter/use-browser-location';
import { App } from './app.js';
import { publicPath, queries } from './api.js';
import { loadMarkdown } from './parts/markdown.js';
import { keepFormsInView } from './shell/keep-in-view.js';
import { followTranslation } from './shell/translation.js';

/** The router decodes a query once before it is parsed, which decodes it as well: a `%` in a value would break it. */
const useEncodedSearch = () => encodeURI(useSearch());

const place = document.getElementById('page');
if (place === null) throw new Error('the page has no place for itself');
keepFormsInView();
followTranslation(place);
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Router base={publicPath} searchHook={useEncodedSearch}>
        <App />
      </Router>
    </QueryClientProvider>
  </StrictMode>,
);

/** What draws markdown comes behind what the first view asks for, and before it is needed. */
function loadBehind(): void {
  if (queries.isFetching() > 0) setTimeout(loadBehind, lookMs);
  else loadMarkdown();
}
const lookMs = 200;
addEventListener('load', () => setTimeout(loadBehind, lookMs), { once: true });
