import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useOnPage } from '../on-page.js';

/** What is rare, behind a button. It closes with Escape, and when something is chosen or looked at elsewhere. */
export function Menu({ name, children }: { name: string; children: ReactNode }) {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const elsewhere = ({ target }: Event) => {
      if (menu.current && target instanceof Node && !menu.current.contains(target)) menu.current.open = false;
    };
    document.addEventListener('pointerdown', elsewhere);
    document.addEventListener('focusin', elsewhere);
    return () => {
      document.removeEventListener('pointerdown', elsewhere);
      document.removeEventListener('focusin', elsewhere);
    };
  }, []);
  const close = () => {
    if (!menu.current) return;
    menu.current.open = false;
    menu.current.querySelector('summary')?.focus();
  };
  return (
    <details
      className="menu"
      ref={menu}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !menu.current?.open) return;
        event.preventDefault();
        close();
      }}
      onClick={({ target }) => {
        if (target instanceof Element && target.closest('.menu-item')) close();
      }}
    >
      <summary className="button">
        {name}
        <svg className="menu-sign" viewBox="0 0 10 6" width="10" height="6" aria-hidden>
          <path d="m1 1 4 4 4-4" />
        </svg>
      </summary>
      <ul className="menu-list">{children}</ul>
    </details>
  );
}

/** One act of a menu, and what it will do. */
export function MenuItem({ does, will, onAct }: { does: string; will: string; onAct: () => void }) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const show = () => {
    const menu = button.current?.closest('details');
    if (menu) menu.open = true;
    button.current?.focus();
  };
  useOnPage({ does, will, hotkey: undefined, act: onAct, show });
  return (
    <li className="menu-choice">
      <button type="button" ref={button} className="menu-item" aria-describedby={id} onClick={onAct}>
        {does}
      </button>
      <p id={id}>{will}</p>
    </li>
  );
}
