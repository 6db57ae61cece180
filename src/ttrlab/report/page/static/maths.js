// Text with its maths typeset by KaTeX. What KaTeX refuses stays as it was written; no text can load, link or run anything.
"use strict";

TTRLAB.rich = (() => {
  const PAIRS = [["$$", "$$", true], ["\\[", "\\]", true], ["\\(", "\\)", false], ["$", "$", false]];
  const ENVIRONMENT = /^\\begin\{((?:align|equation|gather|alignat)\*?|aligned|cases|array|[pbvBV]?matrix)\}/;
  const LONGEST = 2000, MOST = 300;
  const distrust = ({ command }) => { throw new Error(`${command} is not trusted`); };
  const SETTINGS = { trust: distrust, throwOnError: true, strict: "ignore", output: "html", maxSize: 20, maxExpand: 200 };

  /** Where the formula that opens at `from` ends: {tex, display, to}; null when none opens there. */
  function formula(text, from) {
    const rest = text.slice(from, from + LONGEST);
    const named = ENVIRONMENT.exec(rest);
    if (named) {
      const close = `\\end{${named[1]}}`, at = rest.indexOf(close);
      return at < 0 ? null : { tex: rest.slice(0, at + close.length), display: true, to: from + at + close.length };
    }
    const pair = PAIRS.find(([open]) => rest.startsWith(open));
    if (!pair) return null;
    const [open, close, display] = pair;
    let at = open.length;
    while (at < rest.length && !rest.startsWith(close, at)) at += rest[at] === "\\" ? 2 : 1;
    if (!rest.startsWith(close, at)) return null;
    const tex = rest.slice(open.length, at);
    const money = open === "$" && (/^\s|\s$|\n\s*\n/.test(tex) || /\d/.test(rest[at + 1] ?? ""));
    return tex.trim() === "" || money ? null : { tex, display, to: from + at + close.length };
  }

  function typeset(found, written) {
    const place = document.createElement("span");
    try {
      katex.render(found.tex, place, { ...SETTINGS, displayMode: found.display });
      place.title = written;
    } catch (error) {
      place.textContent = written;
    }
    return place;
  }

  /** Nodes of `text`, maths typeset. */
  return (text) => {
    const nodes = [];
    let from = 0, count = 0;
    for (let at = 0; at < text.length && count < MOST;) {
      if (text[at] !== "$" && text[at] !== "\\") { at += 1; continue; }
      const found = formula(text, at);
      if (!found) { at += text[at] === "\\" || text.startsWith("$$", at) ? 2 : 1; continue; }
      nodes.push(document.createTextNode(text.slice(from, at)), typeset(found, text.slice(at, found.to)));
      from = at = found.to;
      count += 1;
    }
    nodes.push(document.createTextNode(text.slice(from)));
    return nodes;
  };
})();
