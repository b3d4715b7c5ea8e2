// map_cells.js: where the columns of a heat map over two parameters stand, and where Poise went on it;
// columns without a run of the workload have no cell.
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

const nearest = (values, to) =>
  values.reduce((best, v) => (Math.abs(v - to) < Math.abs(best - to) ? v : best));

/** Poise's marks on a map of warp tuples: each at the nearest tuple that was measured, with its shares of all
 * predictions and of all results; and the path of one SM through its first epoch. xs, ys: what was
 * measured. */
export function poiseMarks(tuples, xs, ys) {
  if (!tuples || !xs.length || !ys.length) return { marks: [], path: [] };
  const marks = new Map();
  const all = [2, 3].map((k) => tuples.places.reduce((sum, place) => sum + place[k], 0) || 1);
  for (const [n, p, predicted, settled] of tuples.places) {
    const x = nearest(xs, n),
      y = nearest(ys, p);
    const mark = marks.get(`${x} ${y}`) ?? { x, y, predicted: 0, settled: 0 };
    mark.predicted += predicted / all[0];
    mark.settled += settled / all[1];
    marks.set(`${x} ${y}`, mark);
  }
  return {
    marks: [...marks.values()].filter((m) => m.predicted > 0 || m.settled > 0),
    path: tuples.path.map(([n, p]) => ({ x: nearest(xs, n), y: nearest(ys, p) })),
  };
}
