/** Characters that are not seen, or that turn the order of others, as what they are. */
export function visible(text: string): string {
  return text.replaceAll(
    /(?![\t\n\r])[\p{Cc}\p{Zl}\p{Zp}]|(?!\p{Emoji_Component})\p{Cf}/gu,
    (character) => `‹${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`,
  );
}
