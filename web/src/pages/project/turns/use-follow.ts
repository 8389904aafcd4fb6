import { useEffect, useRef, useState } from 'react';

/** So near to the end, the end is what is read. */
const nearPx = 48;

/**
 * Keeps the end of a list in view while things are added to it, until it is scrolled up.
 *
 * @param isActive whether anything will be added
 * @param size changes where something was added
 */
export function useFollow(isActive: boolean, size: unknown) {
  const end = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(isActive);
  useEffect(() => {
    if (!isActive) return undefined;
    const tops = new WeakMap<Element, number>();
    const look = ({ target }: Event) => {
      const scroller = target === document ? document.scrollingElement : (target as Element);
      if (!scroller || !end.current || !scroller.contains(end.current)) return;
      const { scrollTop, scrollHeight, clientHeight } = scroller;
      const isUp = scrollTop < (tops.get(scroller) ?? 0);
      tops.set(scroller, scrollTop);
      // Where less is shown than before it is scrolled, too, but to the end.
      if (isUp && scrollHeight - scrollTop - clientHeight > nearPx) setFollowing(false);
    };
    window.addEventListener('scroll', look, { capture: true, passive: true });
    return () => window.removeEventListener('scroll', look, { capture: true });
  }, [isActive]);
  useEffect(() => {
    if (isActive && isFollowing) end.current?.scrollIntoView({ block: 'end' });
  }, [isActive, isFollowing, size]);
  return { end, isFollowing: isActive && isFollowing, follow: () => setFollowing(true) };
}
