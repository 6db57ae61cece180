// Which view the address names: #/, #/pair/<p>, #/pair/<p>/question/<q>.
"use strict";

(() => {
  const { need, el, views } = TTRLAB;
  const main = document.getElementById("main");
  const trail = document.getElementById("trail");
  let turn = 0;

  function route() {
    const match = /^#\/pair\/(\d+)(?:\/question\/(\d+))?$/.exec(location.hash);
    return match ? { pair: Number(match[1]), question: match[2] === undefined ? null : Number(match[2]) } : { pair: null, question: null };
  }

  function trailOf(study, place) {
    const parts = [el("a", { href: "#/" }, "Overview")];
    if (place.pair !== null && study.pairs[place.pair]) {
      const { model, benchmark } = study.pairs[place.pair];
      parts.push(el("a", { href: `#/pair/${place.pair}` }, `${model} on ${benchmark}`));
    }
    if (place.question !== null) parts.push(el("span", {}, `question ${place.question + 1}`));
    return parts;
  }

  async function show() {
    const mine = ++turn;
    try {
      const study = await need("study");
      const place = route();
      document.title = `${study.study} - ttrlab`;
      document.getElementById("study").textContent = study.study;
      let content;
      if (place.pair === null || !study.pairs[place.pair]) content = views.overview(study);
      else if (place.question === null) content = await views.pair(study, place.pair);
      else content = await views.question(study, place.pair, place.question);
      if (mine !== turn) return;
      main.replaceChildren(content);
      trail.replaceChildren(...trailOf(study, place));
      window.scrollTo(0, 0);
      document.documentElement.dataset.ready = String(Math.round(performance.now()));
    } catch (error) {
      main.replaceChildren(el("p", { class: "fault" }, `This view cannot be shown: ${error.message}`));
    }
  }

  window.addEventListener("hashchange", show);
  show();
})();
