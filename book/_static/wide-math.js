// An inline formula that is wider than its paragraph gets a line of its own, and scrolls there (book.css).
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
  };
  mark();
  addEventListener("resize", mark);
});
