import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/**
 * The page's policy allows files of its own origin alone: nothing is inlined, and no script is added for old browsers.
 * Its addresses are relative, since a proxy may serve it below a path.
 */
export default defineConfig({
  base: './',
  plugins: [react()],
  build: {
    target: 'es2023',
    outDir: 'dist',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    rolldownOptions: { input: ['index.html', 'docs.html'].map((name) => `${import.meta.dirname}/${name}`) },
  },
});
