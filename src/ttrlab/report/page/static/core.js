// Chunks of data and small helpers. Text from models reaches the document through text nodes and nothing else.
"use strict";

const TTRLAB = (() => {
  const held = new Map();
  const waiting = new Map();

  /** Called by every chunk. */
  function receive(name, value) {
    const entry = waiting.get(name);
    if (entry) entry.done(value);
  }

  /** The chunk `name`, loaded once as data/<name>.js. */
  function need(name) {
    if (held.has(name)) return held.get(name);
    const promise = new Promise((resolve, reject) => {
      const script = document.createElement("script");
      const finish = () => { waiting.delete(name); script.remove(); };
      waiting.set(name, { done: (value) => { finish(); resolve(value); } });
      script.onerror = () => { finish(); held.delete(name); reject(new Error(`data/${name}.js cannot be read`)); };
      script.src = `data/${name}.js`;
      document.head.append(script);
    });
    held.set(name, promise);
    return promise;
  }

  /** The texts behind a packed chunk: base64, gzip, JSON. */
  async function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  }

  /** Forget chunks that begin with `prefix`, so that a long visit does not keep every roll-out. */
  function forget(prefix) {
    for (const name of [...held.keys()]) if (name.startsWith(prefix)) held.delete(name);
  }

  const PLAIN = new Set(["class", "title", "type", "href", "placeholder", "value", "for", "id", "scope", "colspan", "rowspan", "src", "alt",
    "loading", "role", "open", "tabindex"]);

  function allowed(name, value) {
    if (name === "href" && !/^(#\/|figures\/)/.test(value)) throw new Error(`no link to ${value}`);
    if (name === "src" && !/^figures\//.test(value)) throw new Error(`no image from ${value}`);
    return PLAIN.has(name) || name.startsWith("aria-") || name.startsWith("data-");
  }

  /** An element; `children` are nodes or text. Only listed attributes; `on<event>` takes a function, never text. */
  function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === "function" && name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (name === "style") for (const [key, entry] of Object.entries(value)) node.style.setProperty(key, entry);
      else if (allowed(name, String(value))) node.setAttribute(name, value === true ? "" : String(value));
      else throw new Error(`attribute ${name} is not allowed`);
    }
    node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false).map(asNode));
    return node;
  }

  function asNode(child) {
    return child instanceof Node ? child : document.createTextNode(String(child));
  }

  /** A labelled select; `options` are [value, text]. */
  function select(label, options, chosen, onchange) {
    const box = el("select", { "aria-label": label, onchange: (event) => onchange(event.target.value) },
      options.map(([value, text]) => el("option", { value }, text)));
    box.value = chosen;
    return el("label", { class: "field" }, el("span", {}, label), box);
  }

  /** A table; `head` and `rows` hold cells: text, nodes, or ready th/td. */
  function table(className, head, rows) {
    const cell = (kind) => (value) => (value instanceof HTMLTableCellElement ? value : el(kind, {}, value));
    return el("div", { class: "scroll" }, el("table", { class: className },
      el("thead", {}, el("tr", {}, head.map(cell("th")))), el("tbody", {}, rows.map((row) => el("tr", {}, row.map(cell("td")))))));
  }

  const missing = (value) => value === null || value === undefined;
  const percent = (value, digits = 1) => (missing(value) ? "–" : (100 * value).toFixed(digits));
  const signed = (value, digits = 1) => {
    if (missing(value)) return "–";
    const text = (100 * value).toFixed(digits);
    return value >= 0 && !text.startsWith("-") ? `+${text}` : text.replace("-", "−");
  };
  /** A number of any size in few characters; what is nearly nothing is said to be so. */
  function number(value, digits = 3) {
    if (missing(value)) return "–";
    if (value !== 0 && Math.abs(value) < 0.0005) return "≈ 0";
    return Number(value.toPrecision(digits)).toString().replace("-", "−");
  }
  const small = (value) => (missing(value) ? "–" : value < 0.001 ? "< 0.001" : value.toFixed(3));

  return { receive, need, unpack, forget, el, select, table, percent, signed, number, small, missing, views: {} };
})();
