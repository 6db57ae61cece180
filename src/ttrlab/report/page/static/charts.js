// Charts as SVG elements: curves with bands, intervals on a line.
"use strict";

TTRLAB.charts = (() => {
  const { el, percent, missing } = TTRLAB;
  const NS = "http://www.w3.org/2000/svg";
  const DASHES = ["", "6 3", "2 3", "8 3 2 3"];

  function svg(tag, attributes, ...children) {
    const node = document.createElementNS(NS, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  const label = (x, y, text, anchor = "middle") => svg("text", { x, y, "text-anchor": anchor }, text);

  /** Round numbers from `low` to `high`, about `count` of them. */
  function ticks(low, high, count) {
    const rough = (high - low) / count || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
    const found = [];
    for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) found.push(Math.abs(at) < 1e-12 ? 0 : at);
    return found;
  }

  /** `lines`: {name, colour, place, points: [[x, mean, low, high]]}; shares are drawn in percent, band = range over seeds. */
  function curves(lines, { height = 210, title = "" } = {}) {
    const width = 420, left = 38, right = 10, top = 10, bottom = 26;
    const points = lines.flatMap((line) => line.points);
    if (!points.length) return el("p", { class: "quiet" }, "nothing to draw");
    const xs = points.map((point) => point[0]);
    const x0 = Math.min(...xs), x1 = Math.max(...xs, x0 + 1);
    let y0 = Math.min(...points.map((point) => point[2])), y1 = Math.max(...points.map((point) => point[3]));
    const air = Math.max((y1 - y0) * 0.06, 0.01);
    y0 = Math.max(Math.min(y0, 0) < 0 ? y0 - air : 0, y0 - air);
    y1 += air;
    const x = (value) => left + ((value - x0) / (x1 - x0)) * (width - left - right);
    const y = (value) => height - bottom - ((value - y0) / (y1 - y0)) * (height - top - bottom);
    const fixed = (value) => value.toFixed(1);
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
    for (const at of ticks(y0, y1, 5)) {
      root.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: fixed(y(at)), y2: fixed(y(at)) }),
        label(left - 6, y(at) + 4, percent(at, y1 - y0 < 0.04 ? 1 : 0), "end"));
    }
    for (const at of ticks(x0, x1, 6).filter(Number.isInteger)) root.append(label(x(at), height - 9, String(at)));
    root.append(label(width - right, height + 1, "step", "end"));
    for (const line of lines.filter((one) => one.points.length === 1)) {
      const level = fixed(y(line.points[0][1]));
      root.append(svg("line", { x1: left, x2: width - right, y1: level, y2: level, stroke: line.colour, "stroke-width": 1.5, "stroke-dasharray": "2 4" },
        svg("title", {}, `${line.name}: ${percent(line.points[0][1])} %`)));
    }
    for (const line of lines) {
      const forth = line.points.map((point) => `${fixed(x(point[0]))},${fixed(y(point[3]))}`);
      const back = line.points.map((point) => `${fixed(x(point[0]))},${fixed(y(point[2]))}`).reverse();
      root.append(svg("polygon", { points: [...forth, ...back].join(" "), fill: line.colour, opacity: 0.14 }));
    }
    for (const line of lines) {
      const path = line.points.map((point) => `${fixed(x(point[0]))},${fixed(y(point[1]))}`).join(" ");
      root.append(svg("polyline", { class: "line", points: path, stroke: line.colour, "stroke-dasharray": dash(line.place) }));
      for (const point of line.points.length > 40 ? [] : line.points) {
        const text = `${line.name}, step ${point[0]}: ${percent(point[1])} % (seeds: ${percent(point[2])} to ${percent(point[3])})`;
        root.append(svg("circle", { cx: fixed(x(point[0])), cy: fixed(y(point[1])), r: 2.6, fill: line.colour }, svg("title", {}, text)));
      }
    }
    return root;
  }

  const dash = (place) => DASHES[Math.floor(place / 10) % DASHES.length];

  /** An estimate with two intervals on a line from -span to span. */
  function interval(estimate, wide, tight, span) {
    const x = (value) => (115 + (Math.max(-span, Math.min(span, value)) / span) * 108).toFixed(1);
    const root = svg("svg", { viewBox: "0 0 230 24", "aria-hidden": "true" }, svg("line", { class: "zero", x1: 115, x2: 115, y1: 0, y2: 24 }));
    if (!tight.some(missing)) root.append(svg("line", { class: "tight", x1: x(tight[0]), x2: x(tight[1]), y1: 12, y2: 12 }));
    if (!wide.some(missing)) root.append(svg("line", { class: "wide", x1: x(wide[0]), x2: x(wide[1]), y1: 12, y2: 12 }));
    root.append(svg("circle", { cx: x(estimate), cy: 12, r: 4 }));
    return root;
  }

  const legend = (methods) => el("div", { class: "legend" },
    methods.map((method) => el("span", {}, el("i", { class: "key", style: { background: method.colour } }), method.name)));

  return { curves, interval, legend };
})();
