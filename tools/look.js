// SPDX-License-Identifier: MIT
// What is wrong with the page that a browser shows, as a list of sentences.  Evaluated
// by tools/look.py, in a window of some width.
(() => {
  const found = new Set();
  const main = document.querySelector("article") ?? document.body;
  const room = document.documentElement.clientWidth;

  const seen = (element) =>
    element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });

  const named = (element) => {
    const text = element.textContent.trim().replace(/\s+/g, " ").slice(0, 40);
    return `<${element.localName}> "${text}"`;
  };

  const scrolls = (element) => {
    for (let e = element.parentElement; e && e !== document.body; e = e.parentElement) {
      if (["auto", "scroll"].includes(getComputedStyle(e).overflowX)) return true;
    }
    return false;
  };

  // ---- nothing is wider than the window, except in a box that scrolls
  if (document.scrollingElement.scrollWidth > room) {
    found.add(`${document.scrollingElement.scrollWidth} pixels wide`);
  }
  for (const element of main.querySelectorAll("*")) {
    const box = element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue; // for screen readers
    if (box.right > room + 1 && seen(element) && !scrolls(element)) {
      found.add(`${named(element)} ends at ${Math.round(box.right)} pixels`);
      break; // what it holds ends there, too
    }
  }

  for (const element of main.querySelectorAll("*")) {
    const box = element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2 || box.right < 0) continue; // the same
    if (box.left < -1 && seen(element) && !scrolls(element)) {
      found.add(`${named(element)} begins at ${Math.round(box.left)} pixels`);
      break;
    }
  }

  // ---- no words are cut off at the edge of a box that does not scroll
  const hides = (value) => value === "hidden" || value === "clip";
  for (const element of document.body.querySelectorAll("*")) {
    const style = getComputedStyle(element);
    const wide = hides(style.overflowX) && element.scrollWidth > element.clientWidth + 1;
    const tall = hides(style.overflowY) && element.scrollHeight > element.clientHeight + 1;
    if (!(wide || tall) || element.clientWidth < 2 || element.clientHeight < 2) continue;
    if (element.textContent.trim() && seen(element)) {
      found.add(`${named(element)} is cut off: ${element.clientWidth} x ${element.clientHeight} ` +
        `pixels for ${element.scrollWidth} x ${element.scrollHeight}`);
    }
  }

  // ---- headings
  let last = 0;
  const headings = [...main.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(seen);
  for (const heading of headings) {
    const level = Number(heading.localName[1]);
    if (level > last + 1) found.add(`${named(heading)} comes after a heading of level ${last}`);
    last = level;
  }
  const first = headings.filter((heading) => heading.localName === "h1").length;
  if (first !== 1) found.add(`${first} headings of level 1`);

  // ---- what has no words
  if (!document.documentElement.lang) found.add("no language");
  if (!document.title.trim()) found.add("no title");
  for (const image of document.querySelectorAll("img")) {
    if (!image.alt.trim()) found.add(`no alternative text: ${image.getAttribute("src")}`);
    else if (!image.naturalWidth) found.add(`no picture: ${image.getAttribute("src")}`);
  }
  for (const drawing of main.querySelectorAll("svg")) {
    if (drawing.closest("a, button, [aria-hidden=true]") || !seen(drawing)) continue;
    if (!drawing.ariaLabel && !drawing.querySelector("title")) found.add("an <svg> without words");
  }
  for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    const words = [...(field.labels ?? [])].map((label) => label.textContent + label.ariaLabel);
    if (!(field.ariaLabel || field.placeholder || words.join("").trim()) && seen(field)) {
      found.add(`<${field.localName}> without a label: ${field.outerHTML.slice(0, 80)}`);
    }
  }
  for (const link of document.querySelectorAll("a[href], button")) {
    const text = link.textContent + (link.ariaLabel ?? "") + (link.title ?? "");
    const image = link.querySelector("img");
    if (!text.trim() && !image && seen(link)) {
      found.add(`<${link.localName}> without words: ${link.outerHTML.slice(0, 80)}`);
    }
  }

  // ---- contrast of text: at least 4.5, of large text 3 (WCAG 2.1, 1.4.3)
  const numbers = (color) => {
    const [red, green, blue, alpha = 1] = color.match(/[\d.]+/g).map(Number);
    const scale = color.startsWith("color(") ? 255 : 1;
    return [red * scale, green * scale, blue * scale, alpha];
  };
  const over = (top, below) =>
    [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const grounds = new Map();
  const ground = (element) => {
    if (!element) return [255, 255, 255];
    if (!grounds.has(element)) {
      const own = numbers(getComputedStyle(element).backgroundColor);
      const rest = own[3] === 1 ? [0, 0, 0] : ground(element.parentElement);
      grounds.set(element, over(own, rest));
    }
    return grounds.get(element);
  };
  const luminance = (color) => {
    const [r, g, b] = color.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
  };
  const enough = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element || element.closest("svg, script, style")) {
      continue;
    }
    const style = getComputedStyle(element);
    const below = ground(element);
    const key = `${style.color} on ${below.map(Math.round)} ${style.fontSize} ${style.fontWeight}`;
    if (enough.has(key) || !seen(element)) continue;
    enough.add(key);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const ratio = contrast(over(numbers(style.color), below), below);
    if (ratio < (large ? 3 : 4.5)) {
      found.add(`${named(element)} has a contrast of ${ratio.toFixed(2)}: ${key}`);
    }
  }
  return [...found];
})();
