/** A part of a page below one of its headings, for the table of contents and for the search. */
export interface Section {
  /** The heading's anchor; empty for what stands above the first. */
  anchor: string;
  title: string;
  /** 1 is the page's own title. */
  level: number;
  text: string;
}

/** What a page is made from. */
export interface Source {
  /** Its address below the root of the server, such as `docs/access`. */
  path: string;
  /** What the list of pages calls it. */
  title: string;
  /** The group of that list; undefined where it is not in the list. */
  group?: string;
  /** The listed page whose part it is. */
  below?: string;
  render: (page: { root: string }) => Rendered;
}

export interface Rendered {
  html: string;
  sections: Section[];
}

/** The way from a page to the root of the server: relative, since a proxy may serve it below a path. */
export function rootFrom(path: string): string {
  return '../'.repeat(path.split('/').length - 1) || './';
}

/** An anchor of a heading, as the platforms that show Markdown name it; the same words twice have a number. */
export function anchors(): (title: string) => string {
  const counts = new Map<string, number>();
  return (title) => {
    const plain = title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    const count = counts.get(plain) ?? 0;
    counts.set(plain, count + 1);
    return count === 0 ? plain : `${plain}-${count}`;
  };
}
