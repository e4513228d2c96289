// Checks of a page, evaluated in it: each gives a list of what is wrong.
(() => {
  const shown = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;

  // Relative luminance and contrast as WCAG 2.2 defines them.
  const rgba = (text) => {
    const parts = text.match(/[\d.]+/g).map(Number);
    return { r: parts[0], g: parts[1], b: parts[2], a: parts.length > 3 ? parts[3] : 1 };
  };
  const over = (front, back) => ({
    r: front.r * front.a + back.r * (1 - front.a), g: front.g * front.a + back.g * (1 - front.a), b: front.b * front.a + back.b * (1 - front.a), a: 1,
  });
  const luminance = ({ r, g, b }) => {
    const part = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const background = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((back, layer) => over(layer, back), { r: 255, g: 255, b: 255, a: 1 });
  };
  // What is drawn under a text: blocks of the graph and the boxes of the timing diagram.
  const drawn = (text) => {
    let back = background(text.ownerSVGElement);
    const [box, centre] = [text.getBoundingClientRect(), []];
    centre.push(box.x + box.width / 2, box.y + box.height / 2);
    for (const rect of text.ownerSVGElement.querySelectorAll("rect")) {
      const at = rect.getBoundingClientRect();
      if (centre[0] < at.left || centre[0] > at.right || centre[1] < at.top || centre[1] > at.bottom) continue;
      const style = getComputedStyle(rect);
      if (style.fill === "none") continue;
      const fill = rgba(style.fill);
      back = over({ ...fill, a: fill.a * Number(style.fillOpacity) * Number(style.opacity) }, back);
    }
    return back;
  };

  return {
    contrast() {
      const wrong = new Set();
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.textContent.trim() || ["SCRIPT", "STYLE", "TITLE", "title"].includes(element.tagName) || !shown(element)) continue;
        if (element.closest(":disabled, .hidden")) continue;
        const inDrawing = element.ownerSVGElement !== undefined && element.ownerSVGElement !== null;
        const back = inDrawing ? drawn(element) : background(element);
        const style = getComputedStyle(element);
        const front = over(rgba(inDrawing ? style.fill : style.color), back);
        const [one, other] = [luminance(front), luminance(back)].sort((a, b) => b - a);
        const contrast = (one + 0.05) / (other + 0.05);
        if (contrast < 4.5) wrong.add(`contrast ${contrast.toFixed(2)} of <${element.tagName} ${element.className.baseVal ?? element.className}> in #${element.closest("[id]")?.id}: ${walker.currentNode.textContent.trim().slice(0, 30)}`);
      }
      return [...wrong].slice(0, 8);
    },

    // Links that lead nowhere, and sections that no link or label names.
    links() {
      const dead = [...document.querySelectorAll("a")].filter((link) => !link.hash || !document.getElementById(link.hash.slice(1)));
      return dead.map((link) => `the link '${link.textContent.trim()}' leads nowhere: ${link.getAttribute("href")}`);
    },

    width() {
      const { scrollWidth, clientWidth } = document.documentElement;
      if (scrollWidth <= clientWidth) return [];
      const wide = [...document.querySelectorAll("body *")].filter((one) => shown(one) && one.getBoundingClientRect().right > clientWidth + 1);
      return [`the page is ${scrollWidth} wide in ${clientWidth}: ${wide.slice(0, 3).map((one) => `${one.tagName}.${one.className}#${one.id}`).join(", ")}`];
    },

    // Paper has no controls, no second copy of the machine code, and is white.
    paper() {
      const controls = "header.top, .controls, .buttons, input, select, #steps, #graph, #listing, #machine";
      const wrong = [...document.querySelectorAll(controls)].filter(shown).map((one) => `${one.tagName}.${one.className}#${one.id} is on paper`);
      const [{ r, g, b }, ink] = [background(document.body), rgba(getComputedStyle(document.body).color)];
      if (luminance({ r, g, b }) < 0.99) wrong.push(`the paper is rgb(${r}, ${g}, ${b})`);
      if (luminance(ink) > 0.01) wrong.push("the ink is not black");
      return wrong.slice(0, 8);
    },

    // Controls need names.
    names() {
      const named = (one) => one.textContent.trim() || one.getAttribute("aria-label") || (one.labels && one.labels.length) || one.title;
      return [...document.querySelectorAll("button, input, select")].filter((one) => !named(one)).map((one) => `a ${one.tagName} has no name`);
    },
  };
})()
