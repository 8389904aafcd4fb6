/** The element with which a browser's translator has replaced a text. */
const standIns = new WeakMap<Node, ChildNode>();

/**
 * Keeps the page live while a browser translates it. A translator replaces a text by an element with its own words, and
 * React goes on to change the text that was replaced. A text that changes replaces its element again, and is translated
 * again; a text that is removed takes its element with it.
 */
export function followTranslation(page: Element): void {
  const changed = new MutationObserver((records) => {
    for (const { target } of records) standIns.get(target)?.replaceWith(target);
    for (const { target } of records) if (target.isConnected) standIns.delete(target);
  });
  new MutationObserver((records) => {
    const added = records.flatMap(({ addedNodes }) => [...addedNodes]);
    if (!added.some((node) => node.nodeName === 'FONT')) return;
    for (const { removedNodes, addedNodes, previousSibling, nextSibling, target } of records) {
      const [text] = removedNodes;
      if (!(text instanceof Text) || text.isConnected) continue;
      const near = [...addedNodes, previousSibling, nextSibling];
      const standIn = near.find((node) => node?.nodeName === 'FONT' && node.parentNode === target);
      if (standIn === undefined || !(standIn instanceof Element)) continue;
      standIns.set(text, standIn);
      changed.observe(text, { characterData: true });
    }
  }).observe(page, { childList: true, subtree: true });

  const { insertBefore, removeChild } = Node.prototype;
  Node.prototype.removeChild = function remove<Child extends Node>(this: Node, child: Child): Child {
    const standIn = child.parentNode === this ? undefined : standIns.get(child);
    if (standIn?.parentNode !== this) return removeChild.call(this, child) as Child;
    standIns.delete(child);
    standIn.remove();
    return child;
  };
  Node.prototype.insertBefore = function insert<Child extends Node>(
    this: Node,
    child: Child,
    next: Node | null,
  ): Child {
    const standIn = next === null || next.parentNode === this ? undefined : standIns.get(next);
    return insertBefore.call(this, child, standIn?.parentNode === this ? standIn : next) as Child;
  };
}
