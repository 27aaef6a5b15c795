// An inline formula that is wider than its paragraph gets a line of its own, and scrolls there (book.css).
addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  const mark = () => {
    for (const formula of document.querySelectorAll(".bd-article mjx-container:not([display])")) {
      const block = formula.closest("p, li, dd, figcaption");
      const width = formula.querySelector("svg").getBoundingClientRect().width;
      formula.classList.toggle("wide", block !== null && width > block.clientWidth);
    }
  };
  mark();
  addEventListener("resize", mark);
});
