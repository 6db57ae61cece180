// One model on one benchmark: curves, audit, groups of questions, and the list of questions with search and filters.
"use strict";

(() => {
  const { need, el, select, table, percent, charts } = TTRLAB;
  const MARKS = { right: "✓", wrong: "✗", undecided: "?", none: "–", "": "" };
  const AUDIT_NAMES = {
    label_accuracy: "labels that are right", reward_accuracy: "rewards that are right", precision: "right among the rewarded",
    recall: "rewarded among the right", coverage: "groups accepted", active_share: "groups with a gradient", mean_reward: "mean reward",
  };
  const FILTERS = [["all", "all questions"], ["split", "methods disagree on a label"], ["wrong", "a wrong label at the end"],
    ["mended", "a label that became right"], ["spoiled", "a label that became wrong"], ["none", "no label at the end"]];
  const kept = new Map();

  TTRLAB.mark = (state) => el("span", { class: state || "none", title: state ? `label ${state}` : "no training" }, MARKS[state]);

  function lines(study, series) {
    return study.methods.map((method, place) => ({ ...method, place, points: series[method.name] ?? [] }))
      .filter((line) => line.points.length > 1 || (line.points.length && !line.adapts));
  }

  function auditTable(study, data) {
    const names = ["label_accuracy", "majority_label_accuracy", "reward_accuracy", "precision", "recall", "coverage", "active_share"];
    const head = ["method", "right labels", "the vote's right labels, same roll-outs", "right rewards", "precision", "recall", "coverage", "active", "roll-outs · seeds"];
    const rows = data.whole.map((row) => [row.method, ...names.map((name) => el("td", { class: "num" }, percent(row[name]))),
      el("td", { class: "num" }, `${row.rollouts} · ${row.seeds}`)]);
    return table("audit", head, rows);
  }

  function groupTable(study, groups) {
    const found = new Map(groups.map((row) => [`${row.group} ${row.method}`, row]));
    const names = [...new Set(groups.map((row) => row.group))];
    return table("groups", ["questions", el("th", { class: "num" }, "n"), ...study.methods.map((method) => el("th", { class: "num" }, method.name))],
      names.map((name) => [name, el("td", { class: "num" }, groups.find((row) => row.group === name).n),
        ...study.methods.map((method) => el("td", { class: "num" }, percent(found.get(`${name} ${method.name}`)?.value)))]));
  }

  /** Which questions a filter keeps; an informed method's labels are not counted. */
  function passes(question, filter, blind) {
    const ends = blind.map((place) => [question.first[place], question.last[place]]);
    if (filter === "split") return question.split;
    if (filter === "wrong") return ends.some(([, last]) => last === "wrong");
    if (filter === "none") return ends.some(([, last]) => last === "none");
    if (filter === "mended") return ends.some(([first, last]) => first !== "right" && last === "right");
    if (filter === "spoiled") return ends.some(([first, last]) => first === "right" && last !== "right");
    return true;
  }

  function list(study, place, data) {
    const state = kept.get(place) ?? { words: "", tag: "all", filter: "all", method: "all", order: "place" };
    kept.set(place, state);
    const tags = [...new Set(data.questions.flatMap((question) => question.tags.map((tag) => tag.join(" = "))))].sort();
    const hay = data.questions.map((question) => `${question.id} ${question.prompt} ${question.gold} ${question.tags.flat().join(" ")}`.toLowerCase());
    const body = el("tbody"), count = el("span", { class: "note", "aria-live": "polite" });
    const rows = data.questions.map((question, at) => row(study, place, question, at));
    const draw = () => {
      const blind = study.methods.map((method, at) => [method, at])
        .filter(([method]) => method.adapts && (state.method === "all" ? !method.gold : method.name === state.method)).map(([, at]) => at);
      const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
      const found = data.questions.map((question, at) => at).filter((at) => words.every((word) => hay[at].includes(word))
        && (state.tag === "all" || data.questions[at].tags.some((tag) => tag.join(" = ") === state.tag))
        && passes(data.questions[at], state.filter, blind));
      if (state.order !== "place") {
        const by = Number(state.order);
        found.sort((a, b) => (data.questions[a].scores[by] ?? 2) - (data.questions[b].scores[by] ?? 2) || a - b);
      }
      body.replaceChildren(...found.map((at) => rows[at]));
      count.textContent = `${found.length} of ${data.questions.length} questions`;
    };
    const chooser = (key, label, options) => select(label, options, state[key], (value) => { state[key] = value; draw(); });
    const search = el("input", { type: "search", placeholder: "words in the question, its id or answer", "aria-label": "search", value: state.words,
      oninput: (event) => { state.words = event.target.value; draw(); } });
    const head = ["question", "text", "tags", "gold", ...study.methods.map((method) => el("th", { class: "num" }, method.name))];
    draw();
    return [
      el("div", { class: "bar" }, el("label", { class: "field grow" }, search), chooser("tag", "tag", [["all", "any"], ...tags.map((tag) => [tag, tag])]),
        chooser("filter", "show", FILTERS),
        chooser("method", "of", [["all", "any label-free method"], ...study.methods.filter((m) => m.adapts).map((m) => [m.name, m.name])]),
        chooser("order", "order", [["place", "as published"], ...study.methods.map((method, at) => [String(at), `worst for ${method.name}`])]), count),
      el("div", { class: "scroll" }, el("table", { class: "list" }, el("thead", {}, el("tr", {},
        head.map((cell) => (cell instanceof Node ? cell : el("th", {}, cell))))), body)),
    ];
  }

  function row(study, place, question, at) {
    const target = `#/pair/${place}/question/${at}`;
    return el("tr", { onclick: () => { location.hash = target; } },
      el("td", { class: "id" }, el("a", { href: target }, question.id)),
      el("td", { class: "prompt", title: question.prompt }, question.prompt),
      el("td", {}, question.tags.map((tag) => el("span", { class: "chip", title: tag[0] }, tag[0] === "regime" ? tag[1] : tag.join(" ")))),
      el("td", { class: "answer" }, question.gold),
      study.methods.map((method, which) => el("td", { class: "num" }, percent(question.scores[which], 0), " ",
        method.adapts ? [TTRLAB.mark(question.first[which]), question.first[which] && "→", TTRLAB.mark(question.last[which])] : null)));
  }

  TTRLAB.views.pair = async (study, place) => {
    const data = await need(`pair-${place}`);
    const { model, benchmark, shown } = study.pairs[place];
    const metrics = study.metrics.filter((metric) => data.curves[metric]);
    const drawn = el("div", { class: "cards" }, metrics.map((metric) => el("div", { class: "card" }, el("h3", {}, `${metric}, %`),
      charts.curves(lines(study, data.curves[metric]), { title: `${metric} over training steps` }))));
    const audits = Object.entries(data.audit).map(([name, series]) => el("div", { class: "card" }, el("h3", {}, `${AUDIT_NAMES[name] ?? name}, %`),
      charts.curves(lines(study, series), { title: `${name} over training steps`, height: 180 })));
    return el("div", {},
      el("h1", {}, `${model} on ${benchmark}`),
      el("p", { class: "quiet" }, `${study.pairs[place].questions} questions. Lines: ${study.seeds.length > 1 ? `mean over ${study.seeds.length} seeds; bands: their range` : `seed ${study.seeds[0]}`}. Dotted: the model as given.`),
      charts.legend(study.methods), drawn,
      data.groups.length ? [el("h2", {}, `${study.metrics[0]} by kind of question, %`), groupTable(study, data.groups)] : null,
      audits.length ? [el("h2", {}, "What the rewards were worth"), el("p", { class: "quiet" }, "Training roll-outs and decisions, joined with gold after the fact."),
        charts.legend(study.methods.filter((method) => method.adapts)), el("div", { class: "cards" }, audits),
        el("h3", { style: { "margin-top": "18px" } }, "Over the whole run, %"), auditTable(study, data)] : null,
      el("h2", {}, "Questions"),
      shown ? [el("p", { class: "quiet" }, `${study.metrics[0]} at the endpoint in %, mean over seeds; marks: the label at the first and last visit of seed ${study.seeds[0]} `
        + "(✓ right, ✗ wrong, ? undecided, – none)."), list(study, place, data)]
        : el("p", {}, "The authors of this benchmark ask that its items are not printed, so its questions are left out."));
  };
})();
