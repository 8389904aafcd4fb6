/** Each block of code can be copied. Where the browser gives no clipboard, as without TLS, nothing is offered. */
export function addCopyButtons(): void {
  if (!('clipboard' in navigator)) return;
  for (const block of document.querySelectorAll('.docs-text pre')) {
    const around = document.createElement('div');
    around.className = 'docs-code';
    block.replaceWith(around);
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'button docs-copy';
    button.textContent = 'Copy';
    button.addEventListener('click', () => {
      navigator.clipboard.writeText(block.textContent.replace(/\n$/, '')).then(
        () => say(button, 'Copied'),
        () => say(button, 'Not copied'),
      );
    });
    around.append(block, button);
  }
}

function say(button: HTMLButtonElement, word: string): void {
  button.textContent = word;
  setTimeout(() => (button.textContent = 'Copy'), 1_500);
}
