// data.js: the report's JSON (docs/report.md), with the look-ups that the page needs.
export class Report {
  constructor(json) {
    this.heddle = json.heddle;
    this.simulator = json.simulator;
    this.brief = json.brief ?? false;
    this.experiments = json.experiments;
    this.runs = new Map(json.runs.map((run) => [run.key, run]));
    completeCells(json.experiments, this.runs);
    this.figures = json.experiments.flatMap((experiment) =>
      experiment.figures.map((figure) => new Figure(experiment, figure)),
    );
    for (const figure of this.figures) figure.tuples = tuplesOf(figure, this.figures, this.runs);
    this.workloads = firstOfEach(json.experiments.flatMap((e) => e.workloads));
    this.machines = [
      ...new Set(json.experiments.flatMap((e) => e.columns.map((c) => c.machine ?? e.machine))),
    ];
  }

  /** Figures that show a run, for its page. */
  figuresOf(key) {
    return this.figures.filter((f) => f.figure.cells.some((cell) => cell.run === key));
  }
}

/** Of a map of warp tuples: where Poise went in the run of the same experiment and workload that has it. */
function tuplesOf(map, figures, runs) {
  const [n, p] = map.figure.axes ?? [];
  if (n !== "tuple.n" || p !== "tuple.p") return null;
  const workloads = new Set(map.figure.cells.map((c) => c.workload));
  const cells = figures.filter((f) => f.experiment === map.experiment).flatMap((f) => f.figure.cells);
  const ran = cells.find((c) => workloads.has(c.workload) && runs.get(c.run)?.tuples);
  return ran ? runs.get(ran.run).tuples : null;
}

function firstOfEach(workloads) {
  const seen = new Map();
  for (const w of workloads) if (!seen.has(w.name)) seen.set(w.name, w);
  return [...seen.values()].sort((a, b) => a.name.localeCompare(b.name));
}

const MEAN = null; // the workload of a mean's cell

/**
 * Members without a value are not in the file. A cell knows the key of its run also when nobody has made it;
 * then there is no page to open.
 */
function completeCells(experiments, runs) {
  for (const e of experiments)
    for (const f of e.figures)
      for (const c of f.cells) {
        c.workload ??= MEAN;
        c.paper ??= null;
        c.chosen ??= null;
        if (!runs.has(c.run)) c.run = null;
      }
}

export class Figure {
  constructor(experiment, figure) {
    this.experiment = experiment;
    this.figure = figure;
    this.key = `${experiment.name}/${figure.id}`;
    this.cells = new Map(figure.cells.map((c) => [cellKey(c, c.column, c.measure), c]));
    this.columns = new Map(experiment.columns.map((c) => [c.name, c]));
    this.measures = new Map(figure.measures.map((m) => [m.name, m]));
  }

  /** What is left of it under a filter { hidden: Set of workloads, machines: Set that are hidden }, in the
   * order of `sort`. */
  view(filter, sort) {
    const { experiment, figure } = this;
    const columns = figure.columns.filter(
      (name) => !filter.machines.has(this.columns.get(name)?.machine ?? experiment.machine),
    );
    const present = new Set(figure.cells.map((c) => c.workload));
    const all = experiment.workloads.filter((w) => present.has(w.name));
    const shown = all.filter((w) => !filter.hidden.has(w.name));
    return new View(this, columns, shown, all.length, sort);
  }
}

/** `at`: a row or a cell: of a workload, of the mean, or of the mean of a class (`of`). */
const cellKey = (at, column, measure) => `${at.workload ?? ""}\n${at.of ?? ""}\n${column}\n${measure}`;

/** Rows and columns as they are to be drawn. */
export class View {
  constructor(source, columns, workloads, allCount, sort) {
    this.source = source;
    this.figure = source.figure;
    this.columns = columns;
    this.measures = source.figure.measures;
    this.isFiltered = workloads.length < allCount;
    // by place in the experiment, so that hiding and sorting change no colour
    const place = new Map(source.experiment.workloads.map((w, i) => [w.name, i]));
    this.rows = workloads.map((w) => ({
      workload: w.name,
      label: w.as || w.name,
      suite: w.suite,
      class: w.class,
      index: place.get(w.name),
      isMean: false,
    }));
    this.sort(sort);
    const classes = [...new Set(source.figure.cells.filter((c) => c.of).map((c) => c.of))];
    for (const of of classes)
      if (this.rows.some((r) => r.class === of))
        this.rows.push({ workload: MEAN, of, label: `mean of ${of}`, isMean: true });
    // without workloads: arithmetic of parameters alone
    if (allCount === 0) this.rows = [{ workload: null, label: "value", index: 0, isMean: false }];
    else if (workloads.length > 0 && source.figure.cells.some((c) => c.workload === MEAN))
      this.rows.push({
        workload: MEAN,
        label: this.isFiltered ? `mean of ${workloads.length}` : "mean",
        isMean: true,
      });
  }

  /** The place of a column among all of the figure's. */
  indexOf(column) {
    return this.figure.columns.indexOf(column);
  }

  /** A cell, or one that is all open. The mean of fewer workloads is ours alone: the paper has no such
   * number. */
  cell(row, column, measure) {
    if (row.isMean && this.isFiltered)
      return {
        workload: MEAN,
        of: row.of,
        column,
        measure,
        value: this.meanOf(column, measure, row.of),
        paper: null,
        chosen: null,
        run: null,
      };
    return (
      this.source.cells.get(cellKey(row, column, measure)) ?? {
        workload: row.workload,
        column,
        measure,
        value: null,
        paper: null,
        chosen: null,
        run: null,
      }
    );
  }

  /** Over the workloads that are shown, or those of a class. */
  meanOf(column, measure, of) {
    const values = this.rows
      .filter((r) => !r.isMean && (!of || r.class === of))
      .map((r) => this.cell(r, column, measure).value);
    return values.length && values.every((v) => v !== null) ? mean(this.figure.mean, values) : null;
  }

  /** sort: { by: "file" | "name" | [column, measure], down: bool }; open values last. */
  sort(sort) {
    if (!sort || sort.by === "file") {
      if (sort?.down) this.rows.reverse();
      return;
    }
    const sign = sort.down ? -1 : 1;
    const byName = (a, b) => a.label.localeCompare(b.label);
    if (sort.by === "name") this.rows.sort((a, b) => sign * byName(a, b));
    else {
      const value = (row) => this.cell(row, ...sort.by).value;
      this.rows.sort((a, b) => compare(value(a), value(b), sign) || byName(a, b));
    }
  }
}

function compare(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  return sign * (a - b);
}

/** The same means as the simulator's (src/lab/figure.c). */
export function mean(kind, values) {
  const n = values.length;
  if (kind === "smallest") return Math.min(...values);
  if (kind === "largest") return Math.max(...values);
  if (kind === "total") return values.reduce((s, v) => s + v, 0);
  if (kind === "arithmetic") return values.reduce((s, v) => s + v, 0) / n;
  if (kind === "gains")
    return values.some((v) => v <= -1) ? null : Math.expm1(values.reduce((s, v) => s + Math.log1p(v), 0) / n);
  if (values.some((v) => v <= 0)) return null;
  if (kind === "geometric") return Math.exp(values.reduce((s, v) => s + Math.log(v), 0) / n);
  if (kind === "harmonic") return n / values.reduce((s, v) => s + 1 / v, 0);
  return null;
}
