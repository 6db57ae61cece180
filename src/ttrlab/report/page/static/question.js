// One question: its answers under every method, and the roll-outs themselves.
"use strict";

(() => {
  const { need, unpack, forget, el, select, table, percent, number, missing, mark, rich } = TTRLAB;
  let written = false;

  /** A box of text, its maths typeset unless the reader wants it as written. */
  const prose = (className, text) => el("div", { class: className }, written ? text : rich(text));
  const STATE = { 1: "right", 0: "wrong", "-1": "undecided" };
  const NONE = -1;
  const EACH = { equilibrium: "equilibrium mass", weight: "confidence weight" };

  function meter(share, state) {
    return el("div", { class: "meter" }, el("i", { class: state, style: { width: `${Math.max(0, Math.min(1, share)) * 100}%` } }));
  }

  function titleOf(sample) {
    if (!sample.by.length) return `the model as given`;
    return `step ${sample.step}: ${sample.by.join(", ")}`;
  }

  const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);

  /** Answer classes, the largest first, unparsed roll-outs last: members, verdict, and what each decision gives them. */
  function clustersOf(sample) {
    const groups = sample.answers.map((answer, id) => ({ id, answer, state: STATE[sample.verdicts[id]], members: [] }));
    const lost = { id: NONE, answer: null, state: "none", members: [] };
    sample.classes.forEach((id, at) => (id === NONE ? lost : groups[id]).members.push(at));
    groups.sort((a, b) => b.members.length - a.members.length || a.id - b.id);
    return lost.members.length ? [...groups, lost] : groups;
  }

  /** A function of two roll-outs: how alike their reasoning is, 0 to 1. */
  function similarityOf(sample) {
    const bytes = atob(sample.similarity), n = sample.classes.length;
    return (a, b) => bytes.charCodeAt(a * n + b) / 100;
  }

  /** Mean similarity of two different members; null for a single one. */
  function coherence(members, alike) {
    let sum = 0;
    for (const a of members) for (const b of members) if (a !== b) sum += alike(a, b);
    return members.length > 1 ? sum / (members.length * (members.length - 1)) : null;
  }

  /** All pairs of roll-outs, ordered by answer: a dark block on the diagonal is an answer reached by one way of reasoning. */
  function similarityMap(sample) {
    const alike = similarityOf(sample), groups = clustersOf(sample), order = groups.flatMap((group) => group.members);
    const side = Math.max(3, Math.floor(300 / order.length)), canvas = el("canvas", { class: "alike", role: "img", "aria-label": "similarity of the reasoning" });
    canvas.width = canvas.height = side * order.length;
    const pen = canvas.getContext("2d");
    order.forEach((a, row) => order.forEach((b, column) => {
      pen.fillStyle = `hsl(206 70% ${(96 - 72 * alike(a, b)).toFixed(0)}%)`;
      pen.fillRect(column * side, row * side, side, side);
    }));
    pen.strokeStyle = "#d9541a";
    pen.lineWidth = 1.5;
    let from = 0;
    for (const group of groups) {
      pen.strokeRect(from * side, from * side, group.members.length * side, group.members.length * side);
      from += group.members.length;
    }
    return el("figure", { class: "figure" }, canvas, el("figcaption", { class: "note" },
      "Similarity of the reasoning of every two roll-outs, light 0 to dark 1; one frame an answer, in the order of the table above."));
  }

  function clusterTable(sample) {
    const alike = similarityOf(sample);
    const n = sample.classes.length;
    const each = sample.decisions.flatMap((made) => Object.keys(made.each).map((name) => ({ made, name })));
    const confident = sample.signals.mean_logprob;
    const head = ["answer", "", "votes", el("th", { class: "num", title: "mean similarity of the reasoning of two roll-outs with this answer" }, "coherence"), confident ? el("th", { class: "num" }, "mean log-prob") : null,
      ...each.map(({ made, name }) => el("th", { class: "num" }, EACH[name] ?? name, el("span", { class: "sub" }, made.method))),
      ...sample.decisions.map((made) => el("th", {}, "reward", el("span", { class: "sub" }, made.method, made.replayed ? " (replayed)" : "")))];
    const rows = clustersOf(sample).map((group) => {
      const of = (values) => group.members.map((at) => values[at]).filter((value) => !missing(value));
      return [
        el("td", { class: "answer" }, group.answer === null ? el("i", { class: "quiet" }, "no answer found") : group.answer),
        mark(group.state),
        el("td", {}, meter(group.members.length / n, group.state), el("span", { class: "note" }, `${group.members.length} of ${n}`)),
        el("td", { class: "num" }, number(coherence(group.members, alike), 2)),
        confident ? el("td", { class: "num" }, number(mean(of(confident)))) : null,
        ...each.map(({ made, name }) => el("td", { class: "num" }, number(name === "equilibrium" ? of(made.each[name]).reduce((s, v) => s + v, 0) : mean(of(made.each[name]))))),
        ...sample.decisions.map((made) => rewardCell(mean(of(made.rewards)), group, made)),
      ].filter((cell) => cell !== null);
    });
    return table("clusters", head.filter((cell) => cell !== null), rows);
  }

  function rewardCell(reward, group, made) {
    const label = group.id !== NONE && (made.labels ? made.labels.includes(group.id) : made.label === group.id);
    return el("td", { class: label ? "picked" : null }, el("div", { class: "reward" }, meter(reward ?? 0, group.state), number(reward)),
      label ? el("span", { class: "chip" }, made.labels ? "a label" : "the label") : null);
  }

  /** Who chose which answer, and how much the question weighs. */
  function decisionTable(sample) {
    const rows = sample.decisions.map((made) => [
      el("b", {}, made.method), made.replayed ? "replayed on these roll-outs" : "in training",
      el("td", {}, mark(made.state), " ", el("span", { class: "answer" }, made.label === null ? "no label" : sample.answers[made.label])),
      el("td", { class: "num" }, made.abstained ? "abstained" : number(made.weight)),
      el("td", { class: "note" }, Object.entries(made.stats).map(([name, value]) => `${name} ${number(value)}`).join(", ")),
    ]);
    return table("decisions", ["method", "", "label", el("th", { class: "num" }, "weight"), "the rule's own numbers"], rows);
  }

  function disagreement(sample) {
    const labels = new Map();
    for (const made of sample.decisions) labels.set(made.label, [...(labels.get(made.label) ?? []), made.method]);
    if (labels.size < 2) return null;
    const parts = [...labels].flatMap(([label, methods], at) => [at ? "; " : "", el("b", {}, methods.join(", ")), label === null ? " gave no label" : " chose ",
      label === null ? "" : el("span", { class: "answer" }, sample.answers[label])]);
    return el("p", {}, "On the same roll-outs, ", parts, ".");
  }

  function rolloutTable(sample, texts) {
    const signals = Object.keys(sample.signals);
    const each = sample.decisions.flatMap((made) => Object.keys(made.each).map((name) => ({ made, name })));
    const head = ["#", "answer", "", ...sample.decisions.map((made) => el("th", {}, "reward", el("span", { class: "sub" }, made.method))),
      ...each.map(({ made, name }) => el("th", { class: "num" }, EACH[name] ?? name, el("span", { class: "sub" }, made.method))),
      ...signals.map((name) => el("th", { class: "num" }, name.replaceAll("_", " "))), el("th", { class: "num" }, "tokens")];
    const body = el("tbody");
    const draw = (order) => body.replaceChildren(...order.map((at) => rolloutRow(sample, texts, at, each, signals, head.length)));
    const all = sample.classes.map((_, at) => at);
    const size = new Map(clustersOf(sample).map((group, place) => [group.id, place]));
    const orders = { drawn: () => all, answer: () => [...all].sort((a, b) => size.get(sample.classes[a]) - size.get(sample.classes[b]) || a - b) };
    for (const made of sample.decisions) orders[`reward ${made.method}`] = () => [...all].sort((a, b) => made.rewards[b] - made.rewards[a] || a - b);
    draw(orders.answer());
    return el("div", {}, el("div", { class: "bar" },
      select("order", Object.keys(orders).map((name) => [name, name === "drawn" ? "as sampled" : `by ${name}`]), "answer", (name) => draw(orders[name]()))),
    el("div", { class: "scroll" }, el("table", { class: "rollouts" }, el("thead", {}, el("tr", {}, head.map((cell) => (cell instanceof Node ? cell : el("th", {}, cell))))), body)));
  }

  function rolloutRow(sample, texts, at, each, signals, width) {
    const id = sample.classes[at];
    const state = id === NONE ? "none" : STATE[sample.verdicts[id]];
    const story = el("tr", {}, el("td", { colspan: width }));
    const fill = () => story.firstChild.replaceChildren(prose("story text", texts[at]), ...judgements(sample, at));
    const toggle = el("button", { type: "button", "aria-expanded": "false", title: "show the roll-out" }, String(at + 1));
    const row = el("tr", { class: "row", onclick: () => {
      const open = story.isConnected;
      if (open) story.remove();
      else { fill(); row.after(story); }
      toggle.setAttribute("aria-expanded", String(!open));
    } }, el("td", {}, toggle), el("td", { class: "answer" }, id === NONE ? el("i", { class: "quiet" }, "none") : sample.answers[id]), el("td", {}, mark(state)),
    sample.decisions.map((made) => el("td", {}, el("div", { class: "reward" }, meter(made.rewards[at], state), number(made.rewards[at])))),
    each.map(({ made, name }) => el("td", { class: "num" }, number(made.each[name][at]))),
    signals.map((name) => el("td", { class: "num" }, number(sample.signals[name][at]))),
    el("td", { class: "num" }, `${sample.tokens[at]}${sample.truncated[at] ? " (cut)" : ""}`));
    return row;
  }

  /** What a judge said of a roll-out: its score, and why. */
  function judgements(sample, at) {
    const said = (sample.judged ?? [])[at];
    if (!said) return [];
    const verdict = said.fault ? `The judge's output is not valid: ${said.fault}.` : `The judge gave ${said.score} of 10.`;
    return [el("div", { class: "story reason" }, el("b", {}, verdict), said.reason ? prose("text", said.reason) : null)];
  }

  /** One line a method and seed, one square a visit: is the label right, and how many roll-outs are. */
  function course(visits) {
    const lines = new Map();
    for (const visit of visits) lines.set(`${visit.method}, seed ${visit.seed}`, [...(lines.get(`${visit.method}, seed ${visit.seed}`) ?? []), visit]);
    return el("div", { class: "course" }, [...lines].flatMap(([name, seen]) => [el("span", {}, name), el("span", { class: "steps" }, seen.map((visit) => {
      const title = `step ${visit.step}: label ${visit.label ?? "none"} (${visit.state}), ${percent(visit.correct, 0)} % of roll-outs right, `
        + `weight ${number(visit.weight)}, mean reward ${number(visit.reward)}, ${visit.classes} answers`;
      return el("i", { class: visit.state, title, style: { opacity: 0.45 + 0.55 * (visit.share ?? 0) } }, { right: "✓", wrong: "✗", undecided: "?", none: "–" }[visit.state]);
    }))]));
  }

  function sampleView(sample, texts) {
    return el("div", {},
      el("p", { class: "quiet" }, sample.by.length ? `${sample.classes.length} roll-outs drawn at step ${sample.step} of seed ${sample.seed}.`
        : `${sample.classes.length} roll-outs of the model as given, seed ${sample.seed}; nothing was rewarded here.`),
      disagreement(sample), clusterTable(sample),
      sample.decisions.length ? [el("h3", { style: { "margin-top": "20px" } }, "Decisions"), decisionTable(sample)] : null,
      el("h3", { style: { "margin-top": "20px" } }, "Similarity"), similarityMap(sample),
      el("h3", { style: { "margin-top": "20px" } }, "Roll-outs"), el("p", { class: "note" }, "Choose a row for its text" + (sample.judged ? " and what the judge said of it." : ".")),
      rolloutTable(sample, texts));
  }

  TTRLAB.views.question = async (study, pair, place) => {
    forget("question-");
    forget("texts-");
    const [data, texts, { questions }] = await Promise.all([need(`question-${pair}-${place}`), need(`texts-${pair}-${place}`).then(unpack), need(`pair-${pair}`)]);
    const entry = questions[place];
    const step = (by, text) => (questions[place + by] ? el("a", { href: `#/pair/${pair}/question/${place + by}` }, text) : el("span", { class: "quiet" }, text));
    const stage = el("div"), tabs = el("div", { class: "tabs" });
    const pick = (which) => {
      [...tabs.children].forEach((tab, at) => tab.setAttribute("aria-pressed", String(at === which)));
      stage.replaceChildren(sampleView(data.samples[which], texts[which]));
    };
    tabs.append(...data.samples.map((sample, at) => el("button", { type: "button", onclick: () => pick(at) }, titleOf(sample))));
    const first = Math.max(0, data.samples.findIndex((sample) => sample.decisions.length));
    const prompt = el("div", {}, prose("prompt-box text", data.prompt));
    const raw = el("button", { type: "button", "aria-pressed": String(written), title: "show LaTeX as the model wrote it", onclick: () => {
      written = !written;
      raw.setAttribute("aria-pressed", String(written));
      prompt.replaceChildren(prose("prompt-box text", data.prompt));
      const chosen = [...tabs.children].findIndex((tab) => tab.getAttribute("aria-pressed") === "true");
      if (chosen >= 0) pick(chosen);
    } }, "LaTeX as written");
    const page = el("div", {},
      el("div", { class: "bar" }, step(-1, "← previous"), step(1, "next →"), entry.tags.map((tag) => el("span", { class: "chip" }, tag.join(" = "))), raw),
      el("h1", {}, data.id), prompt,
      el("p", { style: { "margin-top": "8px" } }, "Gold: ", el("b", { class: "answer" }, data.gold)),
      data.visits.length ? [el("h2", {}, "Over training"), el("p", { class: "note" }, "One square a visit: is the label right (✓), wrong (✗), or is there none (–). Paler: fewer roll-outs agree with it."), course(data.visits)] : null,
      el("h2", {}, "Answers and rewards"), data.samples.length ? [tabs, stage] : el("p", { class: "quiet" }, "No roll-outs are stored for this question."));
    if (data.samples.length) pick(first);
    return page;
  };
})();
