/** Characters that are not seen, or that turn the order of others, as what they are. */
export function visible(text: string): string {
  return text.replaceAll(
    /(?![\t\n\r])[\p{Cc}\p{Zl}\p{Zp}]|(?!\p{Emoji_Component})\p{Cf}/gu,
    (character) => `‹${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`,
  );
}

/** The beginning of a text in one line. */
export function oneLine(text: string, most = 160): string {
  const line = text
    .slice(0, most * 2)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return visible(line.length > most || text.length > most * 2 ? `${line.slice(0, most)}…` : line);
}
