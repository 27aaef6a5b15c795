// An inline formula that is wider than its paragraph gets a line of its own, and scrolls there (book.css).
// On a phone a printed table gets smaller letters, if it then fits and they can still be read.
const LETTERS = { usual: 0.68, smallest: 0.5 }; // rem; usual as in book.css

addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  const mark = () => {
    for (const formula of document.querySelectorAll(".bd-article mjx-container:not([display])")) {
      const block = formula.closest("p, li, dd, figcaption");
      const width = formula.querySelector("svg").getBoundingClientRect().width;
      formula.classList.toggle("wide", block !== null && width > block.clientWidth);
    }
    // a table that scrolls can be scrolled with the keyboard
    for (const table of document.querySelectorAll(".bd-article table")) {
      if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
      else table.removeAttribute("tabindex");
    }
    const phone = matchMedia("(max-width: 576px)").matches;
    for (const pre of document.querySelectorAll(".bd-article div.cell_output pre")) {
      pre.style.fontSize = "";
      const margin = 2 * parseFloat(getComputedStyle(pre).paddingLeft);
      const size = (LETTERS.usual * (pre.clientWidth - margin)) / (pre.scrollWidth - margin);
      if (phone && LETTERS.smallest <= size && size < LETTERS.usual) pre.style.fontSize = `${size}rem`;
    }
  };
  mark();
  addEventListener("resize", mark);
  addEventListener("toggle", mark, true); // what was folded had no width
});
