const paths = {
  inbox: 'M2 9.5 4 3h8l2 6.5V13H2Zm0 0h3.5L6.5 11h3l1-1.5H14',
  folder: 'M1.75 12.75V3.25H6l1.5 1.75h6.75v7.75Z',
  server: 'M2.5 2.5h11v4.25h-11Zm0 6.75h11v4.25h-11ZM5 4.6h.01M5 11.4h.01',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9Zm3.4 7.9 3.35 3.35',
  copy: 'M5.5 5.5h8v8h-8Zm-3 5v-8h8',
  file: 'M3.5 1.5h6L13 5v9.5H3.5ZM6 8h4.5M6 11h4.5',
  book: 'M3.5 2h9.25v12H3.5ZM3.5 11.25h9.25M6 5h4.25',
  close: 'm4 4 8 8m0-8-8 8',
  clip: 'm13 7.2-5.4 5.4a3.2 3.2 0 0 1-4.5-4.5l5.8-5.8a2.1 2.1 0 0 1 3 3L6.2 11a1 1 0 0 1-1.5-1.5L9.8 4.4',
  reply: 'M6.5 3.5 2.5 7.5l4 4M3 7.5h6.5c2.5 0 4 1.5 4 4v1',
  person: 'M8 2.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6ZM2.8 14c.3-3.2 2.3-4.6 5.2-4.6s4.9 1.4 5.2 4.6Z',
} as const;
export type IconName = keyof typeof paths;

/** A small drawing beside a word; it says nothing by itself. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden>
      <path d={paths[name]} />
    </svg>
  );
}
