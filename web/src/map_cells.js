// map_cells.js: where the columns of a heat map over two parameters stand; columns without a run of the workload have no cell.
export function mapCells(view) {
  const row = view.rows[0];
  const measure = view.measures[0];
  if (!row) return [];
  return view.columns
    .map((column) => {
      const [x, y] = view.figure.places[view.indexOf(column)];
      return { row, column, x, y, cell: view.cell(row, column, measure.name) };
    })
    .filter((c) => c.cell.value !== null || c.cell.run !== null);
}
