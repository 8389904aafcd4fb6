import type { ReactNode } from 'react';

/** A column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Whether it names the row. */
  readonly names?: boolean;
  /** `wide` is left out on small screens, `number` is set right. */
  readonly className?: 'wide' | 'number';
  /** Further classes of a cell. */
  readonly classOf?: (row: Row) => string;
  /** What a pointer over a cell is told. */
  readonly hint?: (row: Row) => string;
}

/** A table that is scrolled sideways by itself where it is too wide. */
export function Table<Row>({
  columns,
  rows,
  keyOf,
}: {
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row, at: number) => string;
}) {
  return (
    <div className="table-scroll">
      <table className="table">
        <thead>
          <tr>
            {columns.map(({ title, className }) => (
              <th key={title} scope="col" className={className}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={keyOf(row, at)}>
              {columns.map(({ title, cell, names, className, classOf, hint }) => {
                const classes = [className, classOf?.(row)].filter(Boolean).join(' ') || undefined;
                return names ? (
                  <th key={title} scope="row" className={classes} title={hint?.(row)}>
                    {cell(row)}
                  </th>
                ) : (
                  <td key={title} className={classes} title={hint?.(row)}>
                    {cell(row)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
