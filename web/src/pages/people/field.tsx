import { type ReactNode, useId } from 'react';

/** A field with its name, and what there is to know about it below. */
export function Field({
  name,
  hint,
  children,
}: {
  name: string;
  hint: ReactNode;
  children: (tied: { id: string; 'aria-describedby': string }) => ReactNode;
}) {
  const id = useId();
  return (
    <div className="dialog-field">
      <label htmlFor={id}>{name}</label>
      {children({ id, 'aria-describedby': `${id}-hint` })}
      <span className="quiet" id={`${id}-hint`}>
        {hint}
      </span>
    </div>
  );
}
