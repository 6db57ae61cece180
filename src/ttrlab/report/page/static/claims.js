// What the papers say, what was measured, and the verdict on each printed number.
"use strict";

(() => {
  const { el, select, table } = TTRLAB;
  const VERDICTS = { reproduced: "✓", unresolved: "?", contradicted: "✗", "not run": "–" };
  const CLASS = { reproduced: "right", unresolved: "undecided", contradicted: "wrong", "not run": "none" };
  const short = (value) => (value === null ? "" : (Math.abs(value) < 0.1 ? value.toPrecision(2) : value.toFixed(1)).replace("-", "−"));

  function chip(verdict) {
    return el("span", { class: `verdict ${CLASS[verdict]}` }, `${VERDICTS[verdict]} ${verdict}`);
  }

  function row(claim) {
    const ours = claim.measured === null ? "–" : short(claim.measured);
    const interval = claim.low === null ? null : el("span", { class: "sub" }, `${short(claim.low)} to ${short(claim.high)}`);
    return [chip(claim.verdict), el("td", {}, el("b", {}, claim.method), ` ${claim.metric}${claim.window ? ` (${claim.window})` : ""}`,
      el("span", { class: "sub" }, `${claim.model}, ${claim.benchmark}`)),
    el("td", { class: "num" }, claim.value === "not given" ? el("i", { class: "quiet" }, "not given") : claim.value, el("span", { class: "sub" }, claim.unit)),
    el("td", { class: "num" }, ours, interval), el("td", { class: "num" }, claim.n === null ? "" : `${claim.n} · ${claim.seeds}`),
    el("td", { class: "note why" }, claim.verdict === "not run" ? "" : claim.reason, el("span", { class: "sub" }, `${claim.paper}, ${claim.where}`))];
  }

  /** Tiles with counts, which choose what the table below shows. */
  TTRLAB.claims = (study) => {
    if (!study.claims.length) return null;
    const counts = Object.keys(VERDICTS).map((verdict) => [verdict, study.claims.filter((claim) => claim.verdict === verdict).length]);
    const papers = [...new Set(study.claims.map((claim) => claim.paper))];
    const state = { verdict: counts.slice(0, 3).some(([, count]) => count) ? "measured" : "none", paper: "all" };
    const body = el("div"), tiles = el("div", { class: "tiles" });
    const draw = () => {
      const chosen = study.claims.filter((claim) => (state.paper === "all" || claim.paper === state.paper)
        && (state.verdict === "measured" ? claim.verdict !== "not run" : claim.verdict === state.verdict));
      for (const tile of tiles.children) tile.setAttribute("aria-pressed", String(tile.dataset.verdict === state.verdict));
      body.replaceChildren(chosen.length ? table("claims", ["verdict", "claim", el("th", { class: "num" }, "paper"), el("th", { class: "num" }, "ours"),
        el("th", { class: "num" }, "n · seeds"), "why"], chosen.map(row)) : el("p", { class: "quiet" }, state.verdict === "none"
        ? `No cell of this study is one that the paper has: all ${study.claims.length} printed numbers are not run. Choose a tile to list them.`
        : "No printed number has this verdict."));
    };
    tiles.append(...counts.map(([verdict, count]) => el("button", { type: "button", class: "tile", "data-verdict": verdict, onclick: () => {
      state.verdict = state.verdict === verdict ? (counts.slice(0, 3).some(([, some]) => some) ? "measured" : "none") : verdict;
      draw();
    } }, el("b", { class: CLASS[verdict] }, String(count)), el("span", {}, `${VERDICTS[verdict]} ${verdict}`))));
    draw();
    return [el("h2", {}, "Paper against measured"), tiles,
      papers.length > 1 ? el("div", { class: "bar" }, select("paper", [["all", "all"], ...papers.map((paper) => [paper, paper])], "all", (value) => { state.paper = value; draw(); })) : null,
      body, el("p", { class: "note" }, study.rule)];
  };
})();
