import '@fontsource-variable/ibm-plex-sans/wght.css';
import '@fontsource/ibm-plex-serif/latin-500.css';
import '@fontsource/ibm-plex-mono/latin-400.css';
import './theme/tokens.css';
import './theme/base.css';
import './theme/parts.css';
import './theme/files.css';
import './theme/turns.css';
import './theme/mail.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { App } from './app.js';
import { publicPath, queries } from './api.js';

const place = document.getElementById('page');
if (place === null) throw new Error('the page has no place for itself');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Router base={publicPath}>
        <App />
      </Router>
    </QueryClientProvider>
  </StrictMode>,
);
