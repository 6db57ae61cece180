// The study as a whole: the grid of scores, the contrasts, the figures.
"use strict";

(() => {
  const { el, select, table, percent, signed, number, small, missing, charts } = TTRLAB;
  const pair = (study, place) => `${study.pairs[place].model} on ${study.pairs[place].benchmark}`;

  function heat(study, metric) {
    const found = new Map(study.scores.filter((score) => score.metric === metric).map((score) => [`${score.pair} ${score.method}`, score]));
    const most = Math.max(0.01, ...[...found.values()].map((score) => Math.abs(score.delta ?? 0)));
    const rows = study.pairs.map((one, place) => {
      const scores = study.methods.map((method) => found.get(`${place} ${method.name}`));
      const seen = scores.find((score) => score);
      const name = el("th", { scope: "row" }, el("a", { href: `#/pair/${place}` }, one.benchmark),
        el("small", {}, `${one.model} · ${seen ? `n ${seen.n}, seeds ${seen.seeds}` : "no scores"}`));
      return [name, ...scores.map((score) => cell(score, place, most))];
    });
    return table("heat", ["benchmark", ...study.methods.map((method) => method.name)], rows);
  }

  function cell(score, place, most) {
    if (!score) return el("td", {}, el("small", {}, "not run"));
    const hue = (score.delta ?? 0) >= 0 ? "up" : "down";
    const strength = (0.62 * Math.abs(score.delta ?? 0)) / most;
    const undecided = score.undecided ? `; ${score.undecided} undecided roll-outs count as wrong` : "";
    const title = `n ${score.n} questions, ${score.seeds} seeds; 95 % interval over questions and seeds${undecided}`;
    const base = score.method === "base" || missing(score.delta);
    return el("td", { title, style: { background: `rgba(var(--${hue}), ${strength.toFixed(3)})` } },
      el("a", { href: `#/pair/${place}` }, el("b", {}, percent(score.mean), score.undecided ? "*" : ""),
        el("small", {}, base ? "as given" : `${signed(score.delta)} points`),
        el("small", {}, `${percent(score.population_low)} to ${percent(score.population_high)}`)));
  }

  function contrasts(study, state) {
    const rows = study.contrasts.filter((row) => row.metric === state.metric && row.baseline === state.baseline
      && (state.pair === "all" || row.pair === Number(state.pair)));
    const ends = rows.flatMap((row) => [row.population_low, row.population_high, row.seeds_low, row.seeds_high]).filter((v) => !missing(v));
    const span = Math.max(0.01, ...ends.map(Math.abs));
    const head = ["contrast", el("th", { class: "num" }, "points"), "", "these questions", "questions like these",
      el("th", { class: "num" }, "p (Holm)"), el("th", { class: "num" }, "d_z"), el("th", { class: "num" }, "detectable"), el("th", { class: "num" }, "n · seeds")];
    const body = rows.map((row) => [
      el("td", {}, el("b", {}, row.method), ` − ${row.baseline}`, el("span", { class: "sub" }, pair(study, row.pair))),
      el("td", { class: "num" }, signed(row.difference)),
      charts.interval(row.difference, [row.population_low, row.population_high], [row.seeds_low, row.seeds_high], span),
      missing(row.seeds_low) ? "one seed" : `${signed(row.seeds_low)} to ${signed(row.seeds_high)}`,
      `${signed(row.population_low)} to ${signed(row.population_high)}`,
      el("td", { class: "num", title: `Wilcoxon ${small(row.wilcoxon_p)}, sign test ${small(row.sign_p)} before correction` }, small(row.wilcoxon_p_holm)),
      el("td", { class: "num" }, number(row.cohens_dz)),
      el("td", { class: "num" }, percent(row.detectable)),
      el("td", { class: "num" }, `${row.n} · ${row.seeds}`),
    ]);
    return body.length ? table("forest", head, body) : el("p", { class: "quiet" }, "No contrast of this kind in the study.");
  }

  TTRLAB.views.overview = (study) => {
    const baselines = [...new Set(study.contrasts.map((row) => row.baseline))];
    const state = { metric: study.metrics[0], baseline: baselines[0] ?? "", pair: "all" };
    const grid = el("div"), compared = el("div");
    const draw = () => { grid.replaceChildren(heat(study, state.metric)); compared.replaceChildren(contrasts(study, state)); };
    const chooser = (key, label, options) => select(label, options, state[key], (value) => { state[key] = value; draw(); });
    const same = (values) => values.map((value) => [value, value]);
    const page = el("div", {},
      el("h1", {}, `Study ${study.study}`),
      el("p", { class: "quiet" }, `${study.pairs.length} model-benchmark pairs, ${study.methods.length} methods, seeds ${study.seeds.join(", ")}. `
        + "Every score is that of the last checkpoint, mean over seeds."),
      TTRLAB.claims(study), el("h2", {}, "The grid"),
      el("div", { class: "bar" }, chooser("metric", "metric", same(study.metrics))),
      grid,
      el("p", { class: "note" }, "Percent; difference from base in points and as colour; below it the 95 % interval over questions and seeds. "
        + "Choose a cell for its curves and questions. * some verdicts are undecided and count as wrong."),
      el("h2", {}, "Contrasts"),
      el("p", { class: "quiet" }, "Paired differences. Broad bar: these questions, seeds resampled (with few seeds it is too short). "
        + "Thin line: questions like these, questions and seeds resampled. Detectable: the smallest true difference, in points, that such a cell shows with 80 % power."),
      el("div", { class: "bar" }, chooser("baseline", "against", same(baselines)),
        chooser("pair", "on", [["all", "all pairs"], ...study.pairs.map((_, place) => [String(place), pair(study, place)])])),
      compared);
    if (study.figures.length) {
      page.append(el("h2", {}, "Figures"), el("div", { class: "cards" }, study.figures.map((path) => el("figure", { class: "card figure" },
        el("a", { href: path }, el("img", { src: path, alt: path, loading: "lazy" })), el("figcaption", {}, path.replace(/^figures\/|\.svg$/g, "").replaceAll("_", " "))))));
    }
    draw();
    return page;
  };
})();
